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

    public static async Task<HashSet<Guid>> FindAsync(
        NpgsqlDataSource database,
        IReadOnlyList<AuditFact> facts,
        CancellationToken cancellationToken
    )
    {
        await using var connection = await database.OpenConnectionAsync(cancellationToken);
        var times = facts.Select(fact => fact.Time.UtcDateTime).ToArray();
        return
        [
            .. await connection.QueryAsync<Guid>(
                new CommandDefinition(
                    Find,
                    new
                    {
                        ids = facts.Select(fact => fact.Id).ToArray(),
                        times,
                        from = times.Min(),
                        to = times.Max(),
                    },
                    cancellationToken: cancellationToken
                )
            ),
        ];
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
            await PostgresAuditRows.WriteAsync(database, missing, cancellationToken);
        return missing.Count;
    }
}
