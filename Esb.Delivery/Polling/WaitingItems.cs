namespace Esb.Delivery.Polling;

/// <summary>Claimed items that wait for a retry, each with a pause that doubles, up to 30 s. Thread-safe.</summary>
internal sealed class WaitingItems<TItem>(TimeProvider time)
    where TItem : PolledItem
{
    private const int LongestPauseSeconds = 30;

    private readonly Lock _gate = new();
    private readonly List<TItem> _items = [];

    /// <summary>The number of waiting items.</summary>
    public int Count
    {
        get
        {
            lock (_gate)
                return _items.Count;
        }
    }

    /// <summary>Delays an item after another failure.</summary>
    public void Add(TItem item)
    {
        var seconds = Math.Min(LongestPauseSeconds, 1 << Math.Min(item.Failures, 5));
        var due = time.GetTimestamp() + (seconds * time.TimestampFrequency);
        lock (_gate)
            _items.Add(item with { Failures = item.Failures + 1, NotBefore = due });
    }

    /// <summary>Removes and returns the items that are due, in the order of their arrival.</summary>
    public IReadOnlyList<TItem> TakeDue()
    {
        var now = time.GetTimestamp();
        lock (_gate)
        {
            var due = _items.Where(item => item.NotBefore <= now).ToList();
            _items.RemoveAll(item => item.NotBefore <= now);
            return due;
        }
    }
}
