using Esb.Core.Messages;

namespace Esb.Core.Storage;

/// <summary>A message that could not be delivered, with all that is needed to see why and to deliver it after all.</summary>
/// <param name="Message">As it was delivered: bytes and headers.</param>
/// <param name="Endpoint">The endpoint that gave it up.</param>
/// <param name="Code">The code of the last failure.</param>
/// <param name="Reason">The text of the last failure, at most 8 KiB.</param>
/// <param name="ExceptionType">Its type; null where no exception was thrown.</param>
/// <param name="Attempts">How often it was tried.</param>
/// <param name="FirstAttempt">When it was first tried.</param>
/// <param name="LastAttempt">When it was last tried.</param>
public sealed record DeadLetter(
    EsbMessage Message,
    string Endpoint,
    string Code,
    string Reason,
    string? ExceptionType,
    int Attempts,
    DateTimeOffset FirstAttempt,
    DateTimeOffset LastAttempt)
{
    /// <summary>The most characters of a reason that are kept: more would not fit into a header of the broker.</summary>
    public const int MaxReasonLength = 8 * 1024;

    /// <summary>Its failed attempts, the oldest first; empty where they are not known one by one.</summary>
    public IReadOnlyList<FailedAttempt> Failures { get; init; } = [];

    /// <summary>The trace that the message belonged to (https://www.w3.org/TR/trace-context/); null where it had none.</summary>
    public string? TraceParent { get; init; }

    /// <summary>Identifies the letter: the same for every failure of the message at the endpoint.</summary>
    public Guid Id => IdOf(Message.Id, Endpoint);

    /// <summary>The id of the letter of a message at an endpoint.</summary>
    public static Guid IdOf(Guid messageId, string endpoint) => MessageIds.Derive(messageId, $"dead-letter {endpoint}");
}
