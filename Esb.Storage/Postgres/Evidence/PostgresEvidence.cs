using System.Runtime.CompilerServices;
using Dapper;
using Esb.Configuration;
using Esb.Core.Audit;
using Esb.Storage.Evidence;
using Esb.Storage.Postgres.Audit;

namespace Esb.Storage.Postgres.Evidence;

/// <summary>Verifies the audit facts in PostgreSQL, one day after the other; holds one fact at a time in memory.</summary>
internal sealed class PostgresEvidence(PostgresDatabase database, AuditEvidenceConfig config) : IAuditEvidence
{
    private const string LastErasure = "select max(occurred_at) from audit_event where message_id = @message and kind = 'Erased'";

    private const string Erasures =
        "select occurred_at, chain, number from audit_event where message_id = @message and kind = 'Erased' and chain is not null";

    // What is recorded of a message after it was erased, of a replay for instance, keeps its body. More than any clock is wrong by: what
    // was erased by right must never count as removed.
    private static readonly TimeSpan ClockDifference = TimeSpan.FromHours(1);

    public Task<AuditVerdict> VerifyAsync(DateOnly? from, DateOnly? to, Action<FollowedChain> tell, CancellationToken cancellationToken) =>
        VerifyAsync(from, to, new HashSet<Guid>(), tell, cancellationToken);

    public async Task<AuditVerdict> VerifyStrictlyAsync(
        DateOnly? from,
        DateOnly? to,
        DateOnly today,
        Action<FollowedChain> tell,
        CancellationToken cancellationToken
    )
    {
        var anchors = AnchorBook.Open(config);
        return await VerifyAsync(
            new Verification(anchors, (message, stopping) => AnchoredErasureAsync(anchors, message, stopping), tell, today),
            from,
            to,
            cancellationToken
        );
    }

    /// <param name="from">The first day.</param>
    /// <param name="to">The last day.</param>
    /// <param name="erased">Messages whose erasure is proven by other means than a fact in the store.</param>
    /// <param name="tell">Receives each chain.</param>
    /// <param name="cancellationToken">Ends it.</param>
    public async Task<AuditVerdict> VerifyAsync(
        DateOnly? from,
        DateOnly? to,
        IReadOnlySet<Guid> erased,
        Action<FollowedChain> tell,
        CancellationToken cancellationToken
    )
    {
        var verification = new Verification(
            AnchorBook.Open(config),
            async (message, stopping) => erased.Contains(message) ? DateTimeOffset.MaxValue : await ErasedUntilAsync(message, stopping),
            tell
        );
        return await VerifyAsync(verification, from, to, cancellationToken);
    }

    private async Task<AuditVerdict> VerifyAsync(
        Verification verification,
        DateOnly? from,
        DateOnly? to,
        CancellationToken cancellationToken
    )
    {
        await database.EnsureReadyAsync(cancellationToken);
        foreach (
            var day in (await database.Partitions.ListDaysAsync(cancellationToken)).Where(day =>
                (from is null || day >= from) && (to is null || day <= to)
            )
        )
        {
            await verification.ReadDayAsync(day, ReadAsync(day, cancellationToken), cancellationToken);
            await foreach (var flaw in FindFieldFlawsAsync(day, cancellationToken))
                verification.TakeFieldFlaw(day, flaw);
        }

        return verification.Complete(from, to);
    }

    /// <summary>The facts of a day, each chain in its order; those without one at the end. Of several that share a row, only the last has a
    /// link.</summary>
    public async IAsyncEnumerable<StoredLink> ReadAsync(DateOnly day, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var rows = database.QueryAsync<PostgresAuditRow>(
            $"""
            select {PostgresAuditQuery.Columns}, {PostgresAuditQuery.Body}, e.chain, e.number, e.link from audit_event e
            where e.occurred_at >= @from and e.occurred_at < @to order by e.chain, e.number, e.id
            """,
            new { from = PostgresPartitions.StartOf(day), to = PostgresPartitions.StartOf(day.AddDays(1)) },
            cancellationToken,
            timeout: TimeSpan.Zero
        ); // sorting a large day may take its time
        await foreach (var row in rows)
        {
            foreach (var link in row.ToLinks())
                yield return link;
        }
    }

    /// <summary>Until when the bodies recorded of a message were erased, as a fact tells; null where none does.</summary>
    public async Task<DateTimeOffset?> ErasedUntilAsync(Guid message, CancellationToken cancellationToken)
    {
        var last = await database.RunAsync(
            connection =>
                connection.ExecuteScalarAsync<DateTime?>(
                    new CommandDefinition(LastErasure, new { message }, cancellationToken: cancellationToken)
                ),
            cancellationToken
        );
        return last + ClockDifference;
    }

    // A fact in a chain that an anchor confirms up to there was recorded by a host, and not inserted later.
    private async Task<DateTimeOffset?> AnchoredErasureAsync(AnchorBook anchors, Guid message, CancellationToken cancellationToken)
    {
        var facts = await database.RunAsync(
            connection =>
                connection.QueryAsync<(DateTime At, Guid Chain, long Number)>(
                    new CommandDefinition(Erasures, new { message }, cancellationToken: cancellationToken)
                ),
            cancellationToken
        );
        var anchored = facts
            .Where(fact => anchors.Of(PostgresPartitions.DayOf(fact.At), fact.Chain).Any(anchor => anchor.Count >= fact.Number))
            .ToList();
        return anchored.Count == 0 ? null : anchored.Max(fact => fact.At) + ClockDifference;
    }

    private IAsyncEnumerable<FieldFlaw> FindFieldFlawsAsync(DateOnly day, CancellationToken cancellationToken) =>
        database.QueryAsync<FieldFlaw>(
            PostgresFieldEvidence.Find,
            new
            {
                from = PostgresPartitions.StartOf(day),
                to = PostgresPartitions.StartOf(day.AddDays(1)),
                limit = Verification.MaxBreaks,
            },
            cancellationToken,
            timeout: TimeSpan.Zero
        );
}
