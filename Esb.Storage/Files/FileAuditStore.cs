using System.Runtime.CompilerServices;
using Esb.Core.Audit;
using Esb.Storage.Files.Index;
using Esb.Storage.Segments;

namespace Esb.Storage.Files;

/// <summary>Audit facts in segments: the store that needs no server.</summary>
/// <param name="index">Finds facts.</param>
/// <param name="log">Writes them; null where the store is only read.</param>
internal sealed class FileAuditStore(FileAuditIndex index, Lazy<SegmentLog>? log) : IAuditStore, IAuditRetention
{
    public Task AppendAsync(IReadOnlyList<AuditFact> facts, CancellationToken cancellationToken) =>
        AppendAsync(facts, AuditDurability.Flushed, cancellationToken);

    public async Task AppendAsync(IReadOnlyList<AuditFact> facts, AuditDurability durability, CancellationToken cancellationToken)
    {
        if (facts.Count == 0)
            return;
        if (log is null)
            throw new InvalidOperationException("This store was opened for reading.");

        try
        {
            await FactRecords.AppendAsync(log.Value, facts, durability, cancellationToken);
        }
        catch (Exception ex) when (StoreErrors.IsWriteFailure(ex))
        {
            throw StoreErrors.AuditNotWritten(ex);
        }
    }

    public async IAsyncEnumerable<AuditFact> FindAsync(AuditQuery query, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var stored = query with { Where = StoredText.WellFormed(query.Where) };
        using var search = new FactSearch(await index.RefreshAsync(cancellationToken));
        foreach (var fact in search.Find(stored))
        {
            cancellationToken.ThrowIfCancellationRequested();
            yield return fact;
        }
    }

    public async Task<IReadOnlyList<AuditFact>> GetJourneyAsync(AuditJourneyQuery query, CancellationToken cancellationToken)
    {
        using var search = new FactSearch(await index.RefreshAsync(cancellationToken));
        return search.FindJourney(query);
    }

    public Task RemoveBeforeAsync(DateTimeOffset time, CancellationToken cancellationToken) =>
        index.RemoveBeforeAsync(time, cancellationToken);
}
