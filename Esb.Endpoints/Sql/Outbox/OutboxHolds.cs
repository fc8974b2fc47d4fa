namespace Esb.Endpoints.Sql.Outbox;

/// <summary>What of a lane is passed over for now: keys whose message failed, and messages without a key that did. Used by one lane; not thread-safe.</summary>
internal sealed class OutboxHolds
{
    private const int Most = 200;

    private readonly HashSet<long> _keys = [];
    private readonly HashSet<long> _positions = [];

    /// <summary>The keys.</summary>
    public long[] Keys => [.. _keys];

    /// <summary>The places of messages without a key.</summary>
    public IEnumerable<long> Positions => _positions;

    public bool IsEmpty => _keys.Count + _positions.Count == 0;

    /// <summary>So many fail that more attempts are of no use now.</summary>
    public bool IsFull => _keys.Count + _positions.Count >= Most;

    public void Add(OutboxRow row)
    {
        if (row.KeyHash is { } key) _keys.Add(key);
        else _positions.Add(row.Position);
    }

    public void Clear()
    {
        _keys.Clear();
        _positions.Clear();
    }
}
