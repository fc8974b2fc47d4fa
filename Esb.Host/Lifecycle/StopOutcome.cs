namespace Esb.Host.Lifecycle;

/// <summary>The result of stopping a host.</summary>
/// <param name="IsClean">True if all work finished and every part stopped in time.</param>
/// <param name="Abandoned">Messages in flight at the drain time-out, including those waiting in this process. They are redelivered, were
/// never confirmed to their senders, or are lost if the transport is not durable.</param>
internal sealed record StopOutcome(bool IsClean, int Abandoned);
