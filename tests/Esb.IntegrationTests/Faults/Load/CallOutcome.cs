namespace Esb.IntegrationTests.Faults.Load;

/// <summary>How a call ended.</summary>
/// <param name="Host">Where it went.</param>
/// <param name="Path">By which way.</param>
/// <param name="Result">Whether it was answered, and rightly.</param>
/// <param name="BegunAt">When it began.</param>
/// <param name="EndedAt">When that was known.</param>
/// <param name="Detail">What was wrong; null where nothing was.</param>
internal sealed record CallOutcome(
    Uri Host,
    string Path,
    CallResult Result,
    DateTimeOffset BegunAt,
    DateTimeOffset EndedAt,
    string? Detail = null
);
