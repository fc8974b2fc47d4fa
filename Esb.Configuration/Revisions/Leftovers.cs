using System.Collections.Concurrent;

namespace Esb.Configuration.Revisions;

/// <summary>What an exchange leaves of the old revision: work under way, and what is let go of once that has ended. Thread-safe.</summary>
public sealed class Leftovers
{
    private readonly ConcurrentQueue<Task> _underWay = [];
    private readonly ConcurrentQueue<Func<ValueTask>> _afterwards = [];

    /// <summary>Work of the old revision that is under way; its failure is its own business.</summary>
    public void Until(Task underWay) => _underWay.Enqueue(underWay);

    /// <summary>Lets go of something once nothing of the old revision is under way.</summary>
    public void Then(Func<ValueTask> letGo) => _afterwards.Enqueue(letGo);

    /// <summary>Waits, and lets go of everything.</summary>
    public async Task LetGoAsync()
    {
        await Task.WhenAll(_underWay).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        foreach (var letGo in _afterwards) await letGo();
    }
}
