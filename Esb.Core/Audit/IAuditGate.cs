namespace Esb.Core.Audit;

/// <summary>Admits messages only while their facts can be recorded (pattern: back-pressure). Thread-safe.</summary>
/// <remarks>Checked before a message is received from an external system, or processed from a queue. In-flight messages are not checked:
/// space is reserved for them.</remarks>
public interface IAuditGate
{
    /// <summary>Reason why no further message is admitted, brief and without secrets; null while messages are admitted.</summary>
    string? Obstacle { get; }

    /// <summary>Admits callers that can retry: at once, or after a delay of up to 1 s that grows as space for facts runs short.</summary>
    /// <exception cref="Errors.EsbException"><c>ESB-AUD-FULL</c>: no space is left. <c>ESB-AUD-WRITE</c>: the store accepts no facts.
    /// Nothing is admitted; both are transient.</exception>
    ValueTask EnterAsync(CancellationToken cancellationToken);

    /// <summary>Waits until a message may be admitted, for work that can wait, such as a message in its queue.</summary>
    ValueTask WaitAsync(CancellationToken cancellationToken);
}
