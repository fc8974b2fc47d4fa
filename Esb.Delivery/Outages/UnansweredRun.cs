namespace Esb.Delivery.Outages;

/// <summary>Counts the attempts in a row, over all messages of an endpoint, that its outside did not answer for itself. Not thread-safe, but for <see cref="IsEmpty"/>.</summary>
internal sealed class UnansweredRun
{
    private const int Most = 10;

    private volatile int _count;
    private Guid _first;
    private bool _isOfMany;

    /// <summary>Whether the last attempt was answered.</summary>
    public bool IsEmpty => _count == 0;

    /// <summary>Whether it shows that the outside is away: ten, and not all of one message, which may be the cause itself.</summary>
    public bool ShowsOutage => _count >= Most && _isOfMany;

    public void Add(Guid messageId)
    {
        if (IsEmpty) _first = messageId;
        else _isOfMany |= messageId != _first;
        if (_count < Most) _count++;
    }

    public void Clear() => (_count, _isOfMany) = (0, false);
}
