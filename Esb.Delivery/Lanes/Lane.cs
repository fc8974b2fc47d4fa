using Esb.Core.Storage;

namespace Esb.Delivery.Lanes;

/// <summary>A lane that this host has taken over, and what it knows to be parked. Used by one delivery at a time, as a lane is worked on one by one.</summary>
internal sealed class Lane(Guid session, LaneOwner owner)
{
    // A superset of what is parked: keys leave the store without our hearing of it, none comes in but through us.
    private readonly HashSet<string> _parked = [.. owner.ParkedKeys];

    /// <summary>Of the deliveries for which it was taken over.</summary>
    public Guid Session => session;

    public LaneOwner Owner => owner;

    /// <summary>When somebody else was found to have it, as a time stamp; null while it is ours.</summary>
    public long? LostAt { get; set; }

    /// <summary>Up to which freeze of the process it was made sure that the lane is still ours.</summary>
    public int VerifiedFreeze { get; set; }

    public bool MayBeParked(string key) => _parked.Contains(key);

    public void Park(string key) => _parked.Add(key);

    public void Free(string key) => _parked.Remove(key);
}
