using Dapper;
using Esb.Core.Audit;
using Esb.Storage.Evidence;
using Npgsql;

namespace Esb.Storage.Postgres.Audit;

/// <summary>Tells which facts the database has already.</summary>
internal static class PostgresKnownFacts
{
    private const string Find = """
        select e.id from unnest(@ids, @times) as asked (id, occurred_at) join audit_event e on e.id = asked.id and e.occurred_at =
          asked.occurred_at
        where e.occurred_at between @from and @to
        """;

    // A row of several facts has the key of the last.
    private static readonly string FindRows = $"""
        select {PostgresAuditQuery.Columns}, null::bytea as body from audit_event e
        where e.message_id = any(@messages) and e.first_id is not null and e.occurred_at between @from and @until
        """;

    public static async Task<HashSet<Guid>> FindAsync(
        NpgsqlDataSource database,
        IReadOnlyList<AuditFact> facts,
        CancellationToken cancellationToken
    )
    {
        await using var connection = await database.OpenConnectionAsync(cancellationToken);
        var times = facts.Select(fact => fact.Time.UtcDateTime).ToArray();
        var ids = facts.Select(fact => fact.Id).ToArray();
        var messages = facts.Where(PostgresFactGroups.MayShare).Select(fact => fact.MessageId).Distinct().ToArray();
        var (from, to) = (times.Min(), times.Max());
        var until = to + PostgresFactGroups.Longest;
        var known = (
            await QueryAsync<Guid>(
                Find,
                new
                {
                    ids,
                    times,
                    from,
                    to,
                }
            )
        ).ToHashSet();
        if (messages.Length > 0)
            known.UnionWith(
                (
                    await QueryAsync<PostgresAuditRow>(
                        FindRows,
                        new
                        {
                            messages,
                            from,
                            until,
                        }
                    )
                ).SelectMany(row => row.ToIds())
            );
        return known;

        Task<IEnumerable<T>> QueryAsync<T>(string sql, object parameters) =>
            connection.QueryAsync<T>(new CommandDefinition(sql, parameters, cancellationToken: cancellationToken));
    }

    /// <summary>Inserts facts that have their places already, where they are not there.</summary>
    /// <returns>How many were not.</returns>
    public static async Task<long> AddMissingAsync(
        NpgsqlDataSource database,
        IReadOnlyList<ChainedFact> facts,
        CancellationToken cancellationToken
    )
    {
        var known = await FindAsync(database, [.. facts.Select(fact => fact.Sealed.Fact)], cancellationToken);
        var missing = facts.Where(fact => !known.Contains(fact.Sealed.Fact.Id)).ToList();
        if (missing.Count > 0)
            await PostgresAuditRows.WriteAsync(database, PostgresFactRow.Alone(missing), cancellationToken);
        return missing.Count;
    }
}
