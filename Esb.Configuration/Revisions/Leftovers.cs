using System.Collections.Concurrent;

namespace Esb.Configuration.Revisions;

/// <summary>The remains of the old revision after an exchange: in-flight work, and resources to release once it has ended.
/// Thread-safe.</summary>
public sealed class Leftovers
{
    private readonly ConcurrentQueue<Task> _underWay = [];
    private readonly ConcurrentQueue<Func<ValueTask>> _afterwards = [];

    /// <summary>Adds in-flight work of the old revision; its failure is ignored.</summary>
    public void Until(Task underWay) => _underWay.Enqueue(underWay);

    /// <summary>Adds a resource to release once the old revision has no in-flight work.</summary>
    public void Then(Func<ValueTask> letGo) => _afterwards.Enqueue(letGo);

    /// <summary>Waits for the in-flight work, then releases all resources.</summary>
    public async Task LetGoAsync()
    {
        await Task.WhenAll(_underWay).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        foreach (var letGo in _afterwards)
            await letGo();
    }
}
