namespace Esb.Core.Storage;

/// <summary>An attempt to deliver that failed.</summary>
/// <param name="At">When it had failed.</param>
/// <param name="Code">The code of the failure.</param>
/// <param name="Reason">Its text, at most 8 KiB; earlier attempts may keep less of it.</param>
public sealed record FailedAttempt(DateTimeOffset At, string Code, string Reason);
