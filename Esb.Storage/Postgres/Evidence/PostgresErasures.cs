using Esb.Storage.Postgres.Audit;
using Npgsql;

namespace Esb.Storage.Postgres.Evidence;

/// <summary>Takes out the bodies of what happened before they were erased, but arrives only now: out of the spool of a host that could not
/// write, or out of an archive. Their digests stay, so that their chains hold.</summary>
/// <remarks>Both ways take the lock of writers before they look: <c>erase_audit_bodies</c> waits for it, and then either sees their rows,
/// or is seen by them.</remarks>
internal static class PostgresErasures
{
    /// <summary>The column <c>body</c> of rows called <c>fact</c>, which are about to be inserted by the same statement.</summary>
    /// <remarks>Not as <c>exists</c>, which would be made a hash of all erasures, each time: 330 ms for 200,000 of them, this way 1 ms for
    /// 500 facts. A row of several facts counts from its beginning, a second before at most, on the same day: no body
    /// that was to be erased stays.</remarks>
    public const string BodyUnlessErased =
        "case when body is not null and (select e.message_id from audit_erasure e where e.message_id = fact.message_id and "
        + "e.happened_until >= case when fact.first_id is null then fact.occurred_at else "
        + "greatest(fact.occurred_at - interval '1 second', date_trunc('day', fact.occurred_at, 'UTC')) end) is null then body end";

    private const string Lock = "lock table only audit_event in row exclusive mode";
    private const string Find = "select message_id, happened_until from audit_erasure where message_id = any($1)";

    /// <summary>For rows that a COPY of the same transaction will bring, which cannot ask. One round trip, and none where no row has a
    /// body.</summary>
    public static async Task<IReadOnlyList<PostgresFactRow>> TakeOutAsync(
        NpgsqlConnection connection,
        IReadOnlyList<PostgresFactRow> rows,
        CancellationToken cancellationToken
    )
    {
        var messages = rows.Where(row => row.HasBody).Select(row => row.Fact.MessageId).Distinct().ToArray();
        if (messages.Length == 0)
            return rows;
        var erasures = await FindAsync(connection, messages, cancellationToken);
        return erasures.Count == 0 ? rows : [.. rows.Select(row => IsErased(row, erasures) ? row with { IsErased = true } : row)];
    }

    private static bool IsErased(PostgresFactRow row, IReadOnlyDictionary<Guid, DateTime> erasures) =>
        erasures.TryGetValue(row.Fact.MessageId, out var until) && row.Began.UtcDateTime <= until;

    private static async Task<IReadOnlyDictionary<Guid, DateTime>> FindAsync(
        NpgsqlConnection connection,
        Guid[] messages,
        CancellationToken cancellationToken
    )
    {
        await using var batch = new NpgsqlBatch(connection)
        {
            BatchCommands =
            {
                new NpgsqlBatchCommand(Lock),
                new NpgsqlBatchCommand(Find) { Parameters = { new NpgsqlParameter<Guid[]> { TypedValue = messages } } },
            },
        };
        await using var reader = await batch.ExecuteReaderAsync(cancellationToken);
        var found = new Dictionary<Guid, DateTime>();
        while (await reader.ReadAsync(cancellationToken))
            found[reader.GetGuid(0)] = reader.GetDateTime(1);
        return found;
    }
}
