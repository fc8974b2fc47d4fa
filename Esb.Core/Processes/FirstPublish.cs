namespace Esb.Core.Processes;

/// <summary>The end of a message's way in: it is published.</summary>
/// <param name="Topic">To which topic.</param>
/// <param name="ConfirmedAt">When it was confirmed, as a timestamp of the <see cref="TimeProvider"/>; null for a part of a transaction, which is published with its commit.</param>
public readonly record struct FirstPublish(string Topic, long? ConfirmedAt);
