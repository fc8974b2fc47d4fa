using Esb.Core.Audit;

namespace Esb.Host.Management.Metrics;

/// <summary>Audit facts that wait on this machine to be moved to their store.</summary>
/// <param name="Waiting">How many.</param>
/// <param name="OldestAge">How long ago the oldest happened, in seconds; null where none waits.</param>
/// <param name="Bytes">What they take of the disk, with those that were moved and not deleted yet.</param>
/// <param name="MaxBytes">The most that they may take.</param>
internal sealed record AuditQueueView(long Waiting, double? OldestAge, long Bytes, long MaxBytes)
{
    public static AuditQueueView Of(IAuditSpool spool, TimeProvider time) => new(spool.Length, spool.AgeOfOldest(time)?.TotalSeconds, spool.Bytes, spool.MaxBytes);
}
