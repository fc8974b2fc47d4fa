using Esb.Core.Messages;

namespace Esb.Core.Storage;

/// <summary>A message that could not be delivered, with all data to diagnose it and to deliver it later.</summary>
/// <param name="Message">The message as delivered: bytes and headers.</param>
/// <param name="Endpoint">The endpoint that abandoned it.</param>
/// <param name="Code">The code of the last failure.</param>
/// <param name="Reason">The text of the last failure, at most 8 KiB.</param>
/// <param name="ExceptionType">Its exception type; null if no exception was thrown.</param>
/// <param name="Attempts">Number of attempts.</param>
/// <param name="FirstAttempt">Time of the first attempt.</param>
/// <param name="LastAttempt">Time of the last attempt.</param>
public sealed record DeadLetter(
    EsbMessage Message,
    string Endpoint,
    string Code,
    string Reason,
    string? ExceptionType,
    int Attempts,
    DateTimeOffset FirstAttempt,
    DateTimeOffset LastAttempt
)
{
    /// <summary>Maximum characters of a stored reason: more would not fit into a header of the broker.</summary>
    public const int MaxReasonLength = 8 * 1024;

    /// <summary>Its failed attempts, oldest first; empty if they are not known individually.</summary>
    public IReadOnlyList<FailedAttempt> Failures { get; init; } = [];

    /// <summary>The trace of the message (https://www.w3.org/TR/trace-context/); null if it had none.</summary>
    public string? TraceParent { get; init; }

    /// <summary>Identifies the letter: the same for every failure of the message at the endpoint.</summary>
    public Guid Id => IdOf(Message.Id, Endpoint);

    /// <summary>The id of the letter of a message at an endpoint.</summary>
    public static Guid IdOf(Guid messageId, string endpoint) => MessageIds.Derive(messageId, $"dead-letter {endpoint}");
}
