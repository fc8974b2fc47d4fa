namespace Esb.Delivery.Polling;

/// <summary>An item claimed from a polled source, such as a file or a row. Only this host processes it until it is put away.</summary>
/// <param name="MessageId">The id of the resulting message; the same at every hand-over.</param>
public abstract record PolledItem(Guid MessageId)
{
    /// <summary>True if its message has arrived and the item only remains to be put away.</summary>
    public bool HasArrived { get; init; }

    /// <summary>The reason for the refusal of an item that only remains to be put away; null if it was not refused.</summary>
    public PolledRefusal? Refusal { get; init; }

    /// <summary>The number of failed attempts.</summary>
    public int Failures { get; init; }

    /// <summary>The time of the next attempt, as a timestamp of the clock.</summary>
    public long NotBefore { get; init; }

    /// <summary>The same item, marked as arrived. A source that supports it persists the mark, so that a crash causes no second
    /// hand-over.</summary>
    public virtual PolledItem MarkArrived() => this with { HasArrived = true };
}

/// <summary>The reason why an item of a polled source was refused.</summary>
/// <param name="Code">The code of the error.</param>
/// <param name="Reason">One plain sentence, without secrets.</param>
public sealed record PolledRefusal(string Code, string Reason);
