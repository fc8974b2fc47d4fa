using Esb.Core.Audit;
using Esb.Storage.Evidence;
using Esb.Storage.Postgres.Evidence;
using Npgsql;

namespace Esb.Storage.Postgres.Audit;

/// <summary>Stores audit facts, each once, and chains them; those of one message that meet here share a row. One caller at a
/// time.</summary>
/// <remarks>Facts are almost always new, so there is no check first: the keys refuse existing facts, which are left out only then. A fact
/// that shares a row with a later one has no key of its own, so it is looked for wherever it may have been written before: by an earlier
/// process, by a write of this one that failed, or, if it comes again at once, by the last ones.</remarks>
internal sealed class PostgresAuditWriter(NpgsqlDataSource database, PostgresPartitions partitions, PostgresChain chain, TimeProvider time)
{
    private const int Attempts = 5;
    private const int MostRemembered = 10_000; // a few groups

    // More than the clocks of two machines are apart: the spool of one may be moved by another.
    private static readonly TimeSpan ClockDifference = TimeSpan.FromSeconds(5);

    private readonly HashSet<Guid> _written = []; // at last
    private DateTimeOffset _newFrom = time.GetUtcNow() + ClockDifference; // facts made since then were never written before

    public async Task WriteAsync(IReadOnlyList<AuditFact> facts, CancellationToken cancellationToken)
    {
        IReadOnlyList<SealedFact> pending = [.. facts.DistinctBy(fact => fact.Id).Select(SealedFact.Of)];
        if (pending.Any(fact => PostgresFactGroups.MayShare(fact.Fact) && (fact.Fact.Time < _newFrom || _written.Contains(fact.Fact.Id))))
            pending = await LeaveOutKnownAsync(pending, cancellationToken);
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
                var latest = pending.Max(fact => fact.Fact.Time);
                _newFrom = new[] { _newFrom, latest + ClockDifference, time.GetUtcNow() + ClockDifference }.Max();
                throw;
            }
        }
    }

    private async Task WriteAsync(IReadOnlyList<SealedFact> facts, CancellationToken cancellationToken)
    {
        await partitions.MakeAsync(facts.Select(fact => PostgresPartitions.DayOf(fact.Fact.Time)), cancellationToken);
        var groups = PostgresFactGroups.Of(facts);
        var chained = await chain.ExtendAsync([.. groups.SelectMany(group => group)], cancellationToken);
        await PostgresAuditRows.WriteAsync(database, ToRows(groups, chained), cancellationToken);
        chain.Accept(chained);
        if (_written.Count > MostRemembered)
            _written.Clear();
        _written.UnionWith(facts.Select(fact => fact.Fact.Id));
    }

    private static IReadOnlyList<PostgresFactRow> ToRows(
        IReadOnlyList<IReadOnlyList<SealedFact>> groups,
        IReadOnlyList<ChainedFact> chained
    )
    {
        var rows = new List<PostgresFactRow>(groups.Count);
        var next = 0;
        foreach (var group in groups)
        {
            rows.Add(new PostgresFactRow([.. chained.Skip(next).Take(group.Count)]));
            next += group.Count;
        }

        return rows;
    }

    private async Task<IReadOnlyList<SealedFact>> LeaveOutKnownAsync(IReadOnlyList<SealedFact> facts, CancellationToken cancellationToken)
    {
        var known = await PostgresKnownFacts.FindAsync(database, [.. facts.Select(fact => fact.Fact)], cancellationToken);
        return known.Count == 0 ? facts : [.. facts.Where(fact => !known.Contains(fact.Fact.Id))];
    }
}
