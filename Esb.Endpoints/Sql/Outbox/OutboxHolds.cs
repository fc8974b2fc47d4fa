namespace Esb.Endpoints.Sql.Outbox;

/// <summary>The entries of a lane that are skipped for now: keys whose message failed, and failed messages without a key. Used by one lane;
/// not thread-safe.</summary>
internal sealed class OutboxHolds
{
    private const int Most = 200;

    private readonly HashSet<long> _keys = [];
    private readonly HashSet<long> _positions = [];

    /// <summary>The skipped keys.</summary>
    public long[] Keys => [.. _keys];

    /// <summary>The positions of skipped messages without a key.</summary>
    public IEnumerable<long> Positions => _positions;

    public bool IsEmpty => _keys.Count + _positions.Count == 0;

    /// <summary>True if so many have failed that more attempts are useless now.</summary>
    public bool IsFull => _keys.Count + _positions.Count >= Most;

    public void Add(OutboxRow row)
    {
        if (row.KeyHash is { } key)
            _keys.Add(key);
        else
            _positions.Add(row.Position);
    }

    public void Clear()
    {
        _keys.Clear();
        _positions.Clear();
    }
}
