using Esb.Core.Configuration;
using Esb.Host.Lifecycle;

namespace Esb.Tests.Host.Lifecycle;

/// <summary>The minimum of the thread pool is a setting.</summary>
[NonParallelizable]
public sealed class ThreadPoolMinimumTests
{
    private (int Workers, int Completion) _before;

    [SetUp]
    public void Remember() => ThreadPool.GetMinThreads(out _before.Workers, out _before.Completion);

    [TearDown]
    public void Restore() => ThreadPool.SetMinThreads(_before.Workers, _before.Completion);

    [Test]
    public void Configured_minimum_is_that_of_the_pool()
    {
        ThreadPoolMinimum.Raise(new HostConfig { MinThreads = _before.Workers + 11 });

        Assert.That(Minimum(), Is.EqualTo((_before.Workers + 11, _before.Completion)));
    }

    [Test]
    public void Without_a_minimum_the_pool_stays_as_it_is()
    {
        ThreadPoolMinimum.Raise(new HostConfig());

        Assert.That(Minimum(), Is.EqualTo(_before));
    }

    private static (int, int) Minimum()
    {
        ThreadPool.GetMinThreads(out var workers, out var completion);
        return (workers, completion);
    }
}
