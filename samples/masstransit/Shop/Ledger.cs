using System.Collections.Concurrent;

namespace Shop;

/// <summary>What the application has seen.</summary>
public class Ledger
{
    private readonly ConcurrentDictionary<(Guid Order, Guid Message), int> _packed = new();
    private readonly ConcurrentDictionary<Guid, bool> _completed = new();
    private int _whole;

    /// <summary>Notes an event of the ESB. The same one may come twice, and then has the same message id.</summary>
    public void NotePacked(Guid order, Guid messageId, Guid? conversation, string? region)
    {
        if (region == "eu" && conversation is not null)
            Interlocked.Increment(ref _whole);
        _packed.AddOrUpdate((order, messageId), 1, (_, count) => count + 1);
    }

    public void NoteCompleted(Guid order) => _completed[order] = true;

    public override string ToString()
    {
        var (orders, copies) = (_packed.Keys.Select(key => key.Order).Distinct().Count(), _packed.Values.Sum() - _packed.Count);
        return $"packed {orders}, copies {copies}, under other ids {_packed.Count - orders}, with header and conversation {_whole}, "
            + $"completed {_completed.Count}";
    }
}
