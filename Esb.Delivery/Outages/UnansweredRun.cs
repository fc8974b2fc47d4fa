namespace Esb.Delivery.Outages;

/// <summary>Counts the consecutive attempts, over all messages of an endpoint, without a reply of the external system itself. Not
/// thread-safe, except for <see cref="IsEmpty"/>.</summary>
/// <param name="most">The number of attempts that shows an outage.</param>
internal sealed class UnansweredRun(int most)
{
    private volatile int _count;
    private Guid _first;
    private bool _isOfMany;

    /// <summary>True if the last attempt was answered.</summary>
    public bool IsEmpty => _count == 0;

    /// <summary>True if the run shows an outage: this many attempts, of more than one message, because a single message may itself be the
    /// cause.</summary>
    public bool ShowsOutage => _count >= most && _isOfMany;

    public void Add(Guid messageId)
    {
        if (IsEmpty)
            _first = messageId;
        else
            _isOfMany |= messageId != _first;
        if (_count < most)
            _count++;
    }

    public void Clear() => (_count, _isOfMany) = (0, false);
}
