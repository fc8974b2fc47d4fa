namespace Esb.Host.Lifecycle;

/// <summary>How a host stopped.</summary>
/// <param name="IsClean">Whether all work was finished and everything let go in time.</param>
/// <param name="Abandoned">Messages that were under way when the time was up, those that waited in this process among them; they are delivered again, their senders were not told that they had arrived, or they are lost where the transport is not durable.</param>
internal sealed record StopOutcome(bool IsClean, int Abandoned);
