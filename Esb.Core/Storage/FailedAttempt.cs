namespace Esb.Core.Storage;

/// <summary>A failed delivery attempt.</summary>
/// <param name="At">Time of the failure.</param>
/// <param name="Code">The code of the failure.</param>
/// <param name="Reason">Its text, at most 8 KiB; may be shorter for earlier attempts.</param>
public sealed record FailedAttempt(DateTimeOffset At, string Code, string Reason);
