namespace Esb.IntegrationTests.Faults.Load;

/// <summary>How a call ended.</summary>
/// <param name="Path">Where it went.</param>
/// <param name="Result">Whether it was answered, and rightly.</param>
/// <param name="At">When that was known.</param>
/// <param name="Detail">What was wrong; null where nothing was.</param>
internal sealed record CallOutcome(string Path, CallResult Result, DateTimeOffset At, string? Detail = null);
