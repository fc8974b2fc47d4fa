namespace Esb.Core.Audit;

/// <summary>Lets messages begin only as long as what becomes of them can be recorded (pattern: back-pressure). Thread-safe.</summary>
/// <remarks>Asked before a message is taken in from outside, or worked on that waits in a queue. What is under way does not ask: there is a reserve for it.</remarks>
public interface IAuditGate
{
    /// <summary>Why nothing further may begin, in a few words and without secrets; null while it may.</summary>
    string? Obstacle { get; }

    /// <summary>For callers, who can be told to come back: lets them begin at once, or after a wait that grows, up to a second, as the room for facts runs short.</summary>
    /// <exception cref="Errors.EsbException"><c>ESB-AUD-FULL</c>: there is no room left. <c>ESB-AUD-WRITE</c>: the store takes no facts. Nothing may begin; both are transient.</exception>
    ValueTask EnterAsync(CancellationToken cancellationToken);

    /// <summary>For what can wait where it is, such as a message in its queue: returns once something may begin.</summary>
    ValueTask WaitAsync(CancellationToken cancellationToken);
}
