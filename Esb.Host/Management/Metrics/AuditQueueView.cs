using Esb.Core.Audit;

namespace Esb.Host.Management.Metrics;

/// <summary>The local queue of audit facts that wait for transfer to their store.</summary>
/// <param name="Waiting">The number of waiting facts.</param>
/// <param name="OldestAge">The age of the oldest waiting fact in seconds; null if the queue is empty.</param>
/// <param name="Bytes">The disk space used, including transferred facts that are not yet deleted.</param>
/// <param name="MaxBytes">The maximum disk space.</param>
internal sealed record AuditQueueView(long Waiting, double? OldestAge, long Bytes, long MaxBytes)
{
    public static AuditQueueView Of(IAuditSpool spool, TimeProvider time) =>
        new(spool.Length, spool.AgeOfOldest(time)?.TotalSeconds, spool.Bytes, spool.MaxBytes);
}
