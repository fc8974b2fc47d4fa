namespace Esb.IntegrationTests.Faults.Checking;

/// <summary>One message as it arrived at a sink.</summary>
/// <param name="Id">The sender's name for it.</param>
/// <param name="Hash">SHA-256 of what arrived.</param>
/// <param name="At">When.</param>
internal sealed record SinkEntry(string Id, string Hash, DateTimeOffset At);
