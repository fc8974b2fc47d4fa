namespace Esb.Storage.Files.DeadLetters;

/// <summary>What was removed, for as long as an older segment may still tell of it: read again without its tombstone, it would be back. Not thread-safe.</summary>
internal sealed class Tombstones
{
    private readonly Dictionary<Guid, (long LastTold, long Removed)> _stones = [];

    /// <summary>Notes a removal.</summary>
    /// <param name="id">Of a letter or a job.</param>
    /// <param name="lastTold">The last segment that holds it.</param>
    /// <param name="removed">The segment that says that it was removed.</param>
    public void Set(Guid id, long lastTold, long removed) => _stones[id] = (lastTold, removed);

    /// <summary>Notes that a later segment says the same.</summary>
    public void Move(Guid id, long removed)
    {
        if (_stones.TryGetValue(id, out var stone)) _stones[id] = stone with { Removed = removed };
    }

    /// <summary>It is there again.</summary>
    public void Drop(Guid id) => _stones.Remove(id);

    /// <summary>What must be said once more when a segment goes.</summary>
    /// <param name="segment">The segment that goes.</param>
    /// <param name="oldest">The oldest of those that stay.</param>
    public IReadOnlyList<Guid> NeededAfter(long segment, long oldest)
    {
        foreach (var (id, stone) in _stones)
        {
            if (stone.LastTold < oldest) _stones.Remove(id);
        }

        return [.. _stones.Where(stone => stone.Value.Removed == segment).Select(stone => stone.Key)];
    }
}
