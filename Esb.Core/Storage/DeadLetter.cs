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

    /// <summary>What became of each attempt, oldest first: the first and the last ones where there were many.</summary>
    public IReadOnlyList<FailedAttempt> Failures { get; init; } = [];
}
