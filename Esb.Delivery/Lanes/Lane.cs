using System.Collections.Concurrent;
using Esb.Core.Storage;

namespace Esb.Delivery.Lanes;

/// <summary>A lane that this host has taken over, and its known parked keys. Thread-safe; of each key, one delivery at a time uses
/// it.</summary>
internal sealed class Lane(Guid session, LaneOwner owner)
{
    // A superset of the parked keys: keys may leave the store unnoticed, but only this host adds keys.
    private readonly ConcurrentDictionary<string, bool> _parked = new(owner.ParkedKeys.Select(key => KeyValuePair.Create(key, true)));

    /// <summary>The session of the deliveries for which the lane was taken over.</summary>
    public Guid Session => session;

    public LaneOwner Owner => owner;

    /// <summary>The time at which another owner of the lane was detected, as a timestamp; null while this host owns it.</summary>
    public long? LostAt { get; set; }

    /// <summary>The last process freeze after which ownership of the lane was verified.</summary>
    public int VerifiedFreeze { get; set; }

    public bool MayBeParked(string key) => _parked.ContainsKey(key);

    public void Park(string key) => _parked[key] = true;

    public void Free(string key) => _parked.TryRemove(key, out _);
}
