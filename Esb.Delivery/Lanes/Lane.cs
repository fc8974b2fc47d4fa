using Esb.Core.Storage;

namespace Esb.Delivery.Lanes;

/// <summary>A lane that this host has taken over, and its known parked keys. Used by one delivery at a time, because the deliveries of a
/// lane are processed one by one.</summary>
internal sealed class Lane(Guid session, LaneOwner owner)
{
    // A superset of the parked keys: keys may leave the store unnoticed, but only this host adds keys.
    private readonly HashSet<string> _parked = [.. owner.ParkedKeys];

    /// <summary>The session of the deliveries for which the lane was taken over.</summary>
    public Guid Session => session;

    public LaneOwner Owner => owner;

    /// <summary>The time at which another owner of the lane was detected, as a timestamp; null while this host owns it.</summary>
    public long? LostAt { get; set; }

    /// <summary>The last process freeze after which ownership of the lane was verified.</summary>
    public int VerifiedFreeze { get; set; }

    public bool MayBeParked(string key) => _parked.Contains(key);

    public void Park(string key) => _parked.Add(key);

    public void Free(string key) => _parked.Remove(key);
}
