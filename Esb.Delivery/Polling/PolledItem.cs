namespace Esb.Delivery.Polling;

/// <summary>Something taken out of a polled source, such as a file or a row, that this host alone works on until it is put away.</summary>
/// <param name="MessageId">The id of the message that it becomes; it stays the same however often it is handed over.</param>
public abstract record PolledItem(Guid MessageId)
{
    /// <summary>Whether its message has arrived already, and it is only still to be put away.</summary>
    public bool HasArrived { get; init; }

    /// <summary>Why it was refused, where it is only still to be put away; null where it was not.</summary>
    public PolledRefusal? Refusal { get; init; }

    /// <summary>Attempts that failed.</summary>
    public int Failures { get; init; }

    /// <summary>When it is tried again, as a timestamp of the clock.</summary>
    public long NotBefore { get; init; }

    /// <summary>The same item, known to have arrived. A source that can remembers it outside of this process, so that it is not handed over
    /// again after a crash.</summary>
    public virtual PolledItem MarkArrived() => this with { HasArrived = true };
}

/// <summary>Why an item of a polled source was refused.</summary>
/// <param name="Code">The code of the error.</param>
/// <param name="Reason">One plain sentence, without secrets.</param>
public sealed record PolledRefusal(string Code, string Reason);
