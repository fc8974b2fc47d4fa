namespace Esb.Core.Errors;

/// <summary>The answer of an external system that a call took for a failure. A branch that catches the failure finds it in
/// properties.</summary>
/// <param name="Status">Its status code.</param>
/// <param name="Body">Its body as text, unmasked and at most 64 Ki characters; null if it has none, or is no text.</param>
public sealed record FailedAnswer(int Status, string? Body);
