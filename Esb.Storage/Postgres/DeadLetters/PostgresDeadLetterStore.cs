using Dapper;
using Esb.Core.Storage;

namespace Esb.Storage.Postgres.DeadLetters;

/// <summary>Dead letters in PostgreSQL.</summary>
internal sealed class PostgresDeadLetterStore(PostgresDatabase database) : IDeadLetterStore
{
    public Task AddAsync(DeadLetter letter, CancellationToken cancellationToken) =>
        database.RunAsync(
            async () =>
            {
                await using var command = PostgresLetterUpsert.Command(database.Source, letter);
                await command.ExecuteNonQueryAsync(cancellationToken);
            },
            cancellationToken);

    public IAsyncEnumerable<DeadLetterSummary> FindAsync(DeadLetterQuery query, CancellationToken cancellationToken)
    {
        var filter = new PostgresLetterFilter(query.Filter);
        if (query.Before is not null) filter.And("number < @before", "before", query.Before);
        var sql = $"select {PostgresDeadLetterRow.SummaryColumns} from dead_letter {filter.Where} order by number desc limit {Math.Clamp(query.Limit, 1, 1000)}";
        return database.SearchAsync<PostgresDeadLetterRow>(sql, filter.Parameters, cancellationToken).Select(row => row.ToSummary());
    }

    public async Task<KeptDeadLetter?> GetAsync(Guid id, CancellationToken cancellationToken)
    {
        var rows = await database.QueryAsync<PostgresDeadLetterRow>($"select {PostgresDeadLetterRow.Columns} from dead_letter where id = @id", new { id }, cancellationToken)
            .ToListAsync(cancellationToken);
        return rows is [var row, ..] ? row.ToLetter() : null;
    }

    public async Task<IReadOnlyList<DeadLetterGroup>> GroupAsync(DeadLetterFilter filter, bool byCause, CancellationToken cancellationToken)
    {
        var which = new PostgresLetterFilter(filter);
        var cause = byCause ? "cause" : "null";
        var sql =
            $"""
            select endpoint, code, {cause} as cause, count(*) as count, min(last_attempt) as oldest, max(last_attempt) as newest
            from dead_letter {which.Where} group by endpoint, code{(byCause ? ", cause" : "")} order by count(*) desc, endpoint, code
            """;
        return await database.QueryAsync<GroupRow>(sql, which.Parameters, cancellationToken)
            .Select(row => new DeadLetterGroup(row.Endpoint, row.Code, row.Cause, row.Count, new DateTimeOffset(row.Oldest), new DateTimeOffset(row.Newest)))
            .ToListAsync(cancellationToken);
    }

    public async Task<IReadOnlyList<DeadLetterSummary>> DiscardAsync(DeadLetterFilter filter, OperatorDecision decision, int limit, CancellationToken cancellationToken)
    {
        var which = new PostgresLetterFilter(filter with { State = filter.State ?? DeadLetterState.Open }).And("state not in ('Replaying', 'Discarded')");
        which.Parameters.AddDynamicParams(new { by = PostgresText.Clean(decision.By), note = PostgresText.Clean(decision.Reason) });
        var sql =
            $"""
            update dead_letter set state = 'Discarded', changed_at = now(), changed_by = @by, note = @note
            where number = any(array(select number from dead_letter {which.Where} order by number desc limit {Math.Clamp(limit, 1, 1000)} for update skip locked))
            returning {PostgresDeadLetterRow.SummaryColumns}
            """;
        // Once, and to its end: asked again, it would discard others.
        var rows = await database.RunAsync(connection => connection.QueryAsync<PostgresDeadLetterRow>(new CommandDefinition(sql, which.Parameters, cancellationToken: CancellationToken.None)), cancellationToken);
        return [.. rows.Select(row => row.ToSummary())];
    }

    private sealed record GroupRow
    {
        public string Endpoint { get; init; } = "";

        public string Code { get; init; } = "";

        public string? Cause { get; init; }

        public long Count { get; init; }

        public DateTime Oldest { get; init; }

        public DateTime Newest { get; init; }
    }
}
