using Esb.Core.Audit;
using Esb.Storage.Evidence;
using Esb.Storage.Postgres.Evidence;
using Npgsql;

namespace Esb.Storage.Postgres.Audit;

/// <summary>Stores audit facts, each once, and chains them. One caller at a time.</summary>
/// <remarks>Facts are almost always new, so there is no check first: the keys refuse existing facts, which are left out only
/// then.</remarks>
internal sealed class PostgresAuditWriter(NpgsqlDataSource database, PostgresPartitions partitions, PostgresChain chain)
{
    private const int Attempts = 5;

    public async Task WriteAsync(IReadOnlyList<AuditFact> facts, CancellationToken cancellationToken)
    {
        IReadOnlyList<SealedFact> pending = [.. facts.DistinctBy(fact => fact.Id).Select(SealedFact.Of)];
        for (var attempt = 1; pending.Count > 0; attempt++)
        {
            try
            {
                await WriteAsync(pending, cancellationToken);
                return;
            }
            catch (PostgresException ex) when (attempt < Attempts && PostgresErrors.IsMissingPartition(ex))
            {
                chain.Forget();
                partitions.Forget(); // dropped by another host with a shorter retention
            }
            catch (PostgresException ex) when (attempt < Attempts && ex.SqlState == PostgresErrorCodes.UniqueViolation)
            {
                chain.Forget();
                pending = await LeaveOutKnownAsync(pending, cancellationToken);
            }
            catch
            {
                chain.Forget(); // the commit may have succeeded, or may still do so
                throw;
            }
        }
    }

    private async Task WriteAsync(IReadOnlyList<SealedFact> facts, CancellationToken cancellationToken)
    {
        await partitions.MakeAsync(facts.Select(fact => PostgresPartitions.DayOf(fact.Fact.Time)), cancellationToken);
        var chained = await chain.ExtendAsync(facts, cancellationToken);
        await PostgresAuditRows.WriteAsync(database, chained, cancellationToken);
        chain.Accept(chained);
    }

    private async Task<IReadOnlyList<SealedFact>> LeaveOutKnownAsync(IReadOnlyList<SealedFact> facts, CancellationToken cancellationToken)
    {
        var known = await PostgresKnownFacts.FindAsync(database, [.. facts.Select(fact => fact.Fact)], cancellationToken);
        return [.. facts.Where(fact => !known.Contains(fact.Fact.Id))];
    }
}
