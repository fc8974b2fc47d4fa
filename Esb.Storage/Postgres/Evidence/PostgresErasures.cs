using Esb.Core.Audit;
using Esb.Storage.Evidence;
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
    /// 500 facts.</remarks>
    public const string BodyUnlessErased =
        "case when body is not null and (select e.message_id from audit_erasure e where e.message_id = fact.message_id and "
        + "e.happened_until >= fact.occurred_at) is null then body end";

    private const string Lock = "lock table only audit_event in row exclusive mode";
    private const string Find = "select message_id, happened_until from audit_erasure where message_id = any($1)";

    /// <summary>For facts that a COPY of the same transaction will bring, which cannot ask. One round trip, and none where no fact has a
    /// body.</summary>
    public static async Task<IReadOnlyList<ChainedFact>> TakeOutAsync(
        NpgsqlConnection connection,
        IReadOnlyList<ChainedFact> facts,
        CancellationToken cancellationToken
    )
    {
        var messages = facts.Where(fact => fact.Sealed.Body is not null).Select(fact => fact.Sealed.Fact.MessageId).Distinct().ToArray();
        if (messages.Length == 0)
            return facts;
        var erasures = await FindAsync(connection, messages, cancellationToken);
        return erasures.Count == 0
            ? facts
            :
            [
                .. facts.Select(fact =>
                    IsErased(fact.Sealed.Fact, erasures) ? fact with { Sealed = fact.Sealed with { Body = null } } : fact
                ),
            ];
    }

    private static bool IsErased(AuditFact fact, IReadOnlyDictionary<Guid, DateTime> erasures) =>
        erasures.TryGetValue(fact.MessageId, out var until) && fact.Time.UtcDateTime <= until;

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
