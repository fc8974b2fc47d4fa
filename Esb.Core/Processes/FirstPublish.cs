namespace Esb.Core.Processes;

/// <summary>End of a message's inbound path: its first publish.</summary>
/// <param name="Topic">The topic.</param>
/// <param name="ConfirmedAt">Time of confirmation, as a timestamp of the <see cref="TimeProvider"/>; null in a transaction, which publishes
/// with its commit.</param>
public readonly record struct FirstPublish(string Topic, long? ConfirmedAt);
