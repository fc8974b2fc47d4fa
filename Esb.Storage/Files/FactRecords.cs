using Esb.Core.Audit;
using Esb.Storage.Segments;

namespace Esb.Storage.Files;

/// <summary>Appends facts to a log, those of one call as one record, so that all are kept or none.</summary>
internal static class FactRecords
{
    /// <param name="log">The log.</param>
    /// <param name="facts">The facts.</param>
    /// <param name="durability">State of the record when the call returns.</param>
    /// <param name="cancellationToken">Observed while there is no room.</param>
    public static Task AppendAsync(
        SegmentLog log,
        IReadOnlyList<AuditFact> facts,
        AuditDurability durability,
        CancellationToken cancellationToken
    )
    {
        var buffer = FactBuffer.Take();
        try
        {
            FactForm.Write(facts, buffer);
            return log.AppendAsync(new SegmentEntry(buffer.Bytes), Of(durability), cancellationToken);
        }
        finally
        {
            buffer.Return(); // the log has its own copy
        }
    }

    /// <summary>The same of the log.</summary>
    public static SegmentDurability Of(AuditDurability durability) =>
        durability == AuditDurability.Written ? SegmentDurability.Written : SegmentDurability.Flushed;
}
