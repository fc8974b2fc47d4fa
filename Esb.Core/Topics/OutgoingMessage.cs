using System.Diagnostics;
using Esb.Core.Messages;

namespace Esb.Core.Topics;

/// <summary>A message that is ready to be published, with what its audit fact and its trace need.</summary>
/// <param name="Message">With its id, subject and key; its body is buffered.</param>
/// <param name="Endpoint">The endpoint at which its process was entered.</param>
/// <param name="Process">The process that publishes it; null where none does.</param>
/// <param name="Parent">The trace that it belongs to; default where there is none.</param>
public sealed record OutgoingMessage(EsbMessage Message, string Endpoint, string? Process, ActivityContext Parent)
{
    /// <summary>The message that its process received, where that is another; null where it is the same.</summary>
    public Guid? CausedBy { get; init; }

    /// <summary>The step that publishes it; null where no process does.</summary>
    public string? Step { get; init; }
}

/// <summary>Publishes messages that were made ready before. Thread-safe.</summary>
public interface IOutgoingPublisher
{
    /// <summary>Publishes a message and records that; when this returns it is confirmed. The same message published again keeps its id.</summary>
    /// <returns>Completes when every subscriber has settled the message, where the transport is not durable; completed already where it is.</returns>
    /// <exception cref="Errors.EsbException"><c>ESB-TOPIC-UNAVAILABLE</c>: it was refused or the outcome is unknown, also after repetition.</exception>
    Task<Task> PublishAsync(OutgoingMessage outgoing, CancellationToken cancellationToken);
}
