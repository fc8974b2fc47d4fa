using System.Diagnostics;
using Esb.Core.Endpoints;
using Esb.Core.Messages;

namespace Esb.IntegrationTests.Speed;

/// <summary>Adapters beside the plain client library, against the same server in the same run, one message at a time and several. Prints
/// rates and ratios, and writes them into <c>.test/adapters.md</c>.</summary>
[Category("Soak"), CancelAfter(600_000)]
public sealed partial class AdapterSpeedTests
{
    private const int Bytes = 2048;
    private const int Files = 600;
    private const int Rows = 5_000;
    private const int Rounds = 3;

    private static readonly string Body = new('x', Bytes);
    private static readonly SpeedTable Table = new(Rounds, Bytes);

    [OneTimeTearDown]
    public static async Task WriteTable()
    {
        Directory.CreateDirectory(Repository.PathOf(".test"));
        await File.WriteAllTextAsync(Repository.PathOf(".test", "adapters.md"), $"{Table}");
        await TestContext.Progress.WriteLineAsync($"{Table}");
    }

    private static async Task SendAsync(IOutboundEndpoint instance, EsbMessage message, CancellationToken cancellationToken) =>
        await instance.SendAsync(message, cancellationToken);

    /// <summary>Lets each of several work on its part, one after the other.</summary>
    private static Task SplitAsync(int count, int atOnce, Func<int, Task> work) =>
        Task.WhenAll(
            Enumerable
                .Range(0, atOnce)
                .Select(async part =>
                {
                    for (var i = part; i < count; i += atOnce)
                        await work(i);
                })
        );

    /// <summary>Sends messages by instances of an adapter, each one message after the other.</summary>
    private static async Task SendAllAsync(
        IOutboundAdapter adapter,
        int count,
        int atOnce,
        Func<EsbMessage> create,
        CancellationToken cancellationToken
    )
    {
        var instances = Enumerable.Range(0, atOnce).Select(_ => adapter.CreateInstance()).ToList();
        await SplitAsync(count, atOnce, i => SendAsync(instances[i % atOnce], create(), cancellationToken));
        foreach (var instance in instances.OfType<IDisposable>())
            instance.Dispose();
    }

    private static Task CompareAsync(
        string adapter,
        string client,
        int atOnce,
        int count,
        Func<Task> prepare,
        Func<Task> plain,
        Func<Task> ours
    ) => CompareAsync(adapter, client, atOnce, count, prepare, () => MeasureAsync(plain), () => MeasureAsync(ours));

    // Alternating, so that both meet the same state of the machine; the best round of each counts, but for the first, which warms up.
    private static async Task CompareAsync(
        string adapter,
        string client,
        int atOnce,
        int count,
        Func<Task> prepare,
        Func<Task<TimeSpan>> plain,
        Func<Task<TimeSpan>> ours
    )
    {
        var best = new[] { TimeSpan.MaxValue, TimeSpan.MaxValue };
        for (var round = 0; round <= Rounds; round++)
        {
            foreach (var (index, work) in new[] { (0, plain), (1, ours) })
            {
                await prepare();
                var taken = await work();
                if (round > 0 && taken < best[index])
                    best[index] = taken;
            }
        }

        await TestContext.Out.WriteLineAsync(
            Table.Add(adapter, client, atOnce, ours: count / best[1].TotalSeconds, plain: count / best[0].TotalSeconds)
        );
        Assert.That(best[1], Is.LessThan(TimeSpan.MaxValue).And.GreaterThan(TimeSpan.Zero));
    }

    private static async Task<TimeSpan> MeasureAsync(Func<Task> work)
    {
        var started = Stopwatch.GetTimestamp();
        await work();
        return Stopwatch.GetElapsedTime(started);
    }
}
