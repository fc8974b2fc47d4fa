using Esb.Core.Storage;

namespace Esb.Storage.Sql.DeadLetters;

/// <summary>Dead letters in the table <c>dead_letter</c>.</summary>
internal sealed class DeadLetterStore(SqlDatabase database) : IDeadLetterStore
{
    public Task AddAsync(DeadLetter letter, CancellationToken cancellationToken) =>
        database.TransactAsync(session => new LetterArrival(session, database.Cipher, letter).KeepAsync(), cancellationToken);

    public IAsyncEnumerable<DeadLetterSummary> FindAsync(DeadLetterQuery query, CancellationToken cancellationToken)
    {
        var filter = new LetterFilter(query.Filter, database.Dialect);
        if (query.Before is not null)
            filter.And("number < @before", "before", query.Before);
        var sql =
            $"select {LetterRow.SummaryColumns} from dead_letter {filter.Where} order by number desc limit "
            + $"{Math.Clamp(query.Limit, 1, 1000)}";
        return database.SearchAsync(sql, filter.Parameters, LetterRow.Summary, cancellationToken);
    }

    public Task<KeptDeadLetter?> GetAsync(Guid id, CancellationToken cancellationToken) =>
        database.ReadAsync(session => new KeptLetter(session, database.Cipher, id).ReadAsync(), cancellationToken);

    public Task<KeptDeadLetter?> EditAsync(Guid id, LetterEdit? edit, string expected, CancellationToken cancellationToken) =>
        database.TransactAsync(session => new KeptLetter(session, database.Cipher, id).EditAsync(edit, expected), cancellationToken);

    public async Task<IReadOnlyList<DeadLetterGroup>> GroupAsync(DeadLetterFilter filter, bool byCause, CancellationToken cancellationToken)
    {
        var which = new LetterFilter(filter, database.Dialect);
        var cause = byCause ? "cause" : "null";
        return await database.QueryAsync(
            $"""
            select endpoint, code, {cause} as cause, count(*) as count, min(last_attempt) as oldest, max(last_attempt) as newest
            from dead_letter {which.Where} group by endpoint, code{(byCause ? ", cause" : "")} order by count(*) desc, endpoint, code
            """,
            LetterRow.Group,
            cancellationToken,
            which.With()
        );
    }

    public async Task<IReadOnlyList<DeadLetterSummary>> DiscardAsync(
        DeadLetterFilter filter,
        OperatorDecision decision,
        int limit,
        CancellationToken cancellationToken
    )
    {
        cancellationToken.ThrowIfCancellationRequested();
        var which = new LetterFilter(filter with { State = filter.State ?? DeadLetterState.Open }, database.Dialect).And(
            "state not in ('Replaying', 'Discarded')"
        );
        var chosen =
            $"select number from dead_letter {which.Where} order by number desc limit "
            + $"{Math.Clamp(limit, 1, 1000)}{database.Dialect.ForUpdateSkipLocked}";
        var sql = $"""
            update dead_letter set state = 'Discarded', changed_at = now(), changed_by = @by, note = @note
            where {database.Dialect.IsAmong("number", chosen)}
            returning {LetterRow.SummaryColumns}
            """;
        // Once, and to its end: asked again, it would discard others.
        return await database.WriteAsync(
            session => session.QueryAsync(sql, LetterRow.Summary, which.With(("by", decision.By), ("note", decision.Reason))),
            CancellationToken.None
        );
    }
}
