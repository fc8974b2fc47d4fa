using Dapper;
using Esb.Core.Audit;
using Esb.Storage.Sql;

namespace Esb.Storage.Postgres.Audit;

/// <summary>The questions that audit facts are asked, as SQL.</summary>
internal static class PostgresAuditQuery
{
    // Durations that this program writes and a TimeSpan can hold; the client converts any other duration to another value, or to none.
    private const string DurationIsPlain =
        "extract(year from e.duration) = 0 and extract(month from e.duration) = 0 and abs(extract(day from e.duration)) < 1000000 "
        + "and abs(extract(epoch from e.duration)) < 100000000000";

    public const string Columns = $"""
        e.id, e.occurred_at as OccurredAt, e.kind, e.message_id as MessageId, e.conversation_id as ConversationId, e.caused_by as CausedBy,
          e.endpoint, e.process, e.step, e.name, e.subject,
        e.attempt, case when {DurationIsPlain} then e.duration end as duration, e.duration is not null and not ({DurationIsPlain}) as
          HasOddDuration, e.code, e.reason, e.trace_id as TraceId, e.party, e.host, e.revision, e.fields, e.headers, e.content_type as
          ContentType,
        e.body_encoding as BodyEncoding, e.body_state as BodyState, e.body_length as BodyLength, e.body_hash as BodyHash,
        e.body_digest as BodyDigest, e.body is null as HasNoBody, e.first_id as FirstId, e.part_kinds as PartKinds, e.parts
        """;

    public const string Body = "e.body";
    private const string NoBody = "null::bytea as body";

    // How long a body is stands beside it: bodies for which there is no room are not read. Those of a row with several may have room in
    // part.
    private const string BodyWithinLimit = """
        case when sum(coalesce(octet_length(e.body), 0)) over (order by coalesce(e.first_id, e.id))
          - case when e.first_id is null then 0 else coalesce(octet_length(e.body), 0) end <= @maxBodyBytes then e.body end as body
        """;

    /// <summary>Rows that may have such facts, the newest first: an index leads the way in the order of time, and is left where there are
    /// enough.</summary>
    /// <param name="query">What is asked for.</param>
    /// <param name="limit">The most rows.</param>
    /// <param name="before">Only rows before that of this id; null for all.</param>
    public static (string Sql, DynamicParameters Parameters) Find(AuditQuery query, int limit, Guid? before)
    {
        var filter = new PostgresAuditFilter(query, before);
        return (
            // how many are wanted decides how they are looked for, so it is in the text
            FormattableString.Invariant(
                $"select {Columns}, {(query.WithBodies ? Body : NoBody)} {filter.Sql} order by e.id desc limit {limit}"
            ),
            filter.Parameters
        );
    }

    /// <summary>True if a fact of a row that was found is asked for: its row may have been found by another.</summary>
    public static bool Matches(AuditFact fact, AuditQuery query) =>
        (query.Kind is { } kind ? fact.Kind == kind : !query.OnlyFailures || AuditQuery.Failures.Contains(fact.Kind))
        && (query.From is not { } from || Microseconds(fact.Time) >= Microseconds(from))
        && (query.To is not { } to || Microseconds(fact.Time) < Microseconds(to))
        && (query.Before is not { } before || fact.Id.CompareTo(before) < 0)
        && query.Where.All(field => fact.Fields.GetValueOrDefault(SqlText.Clean(field.Key)) == SqlText.Clean(field.Value));

    /// <summary>Rows of a journey, the oldest first: no fact before the last of them is missing.</summary>
    public static (string Sql, DynamicParameters Parameters) Journey(AuditJourneyQuery query) =>
        (
            $"""
            select {Columns}, {(query.MaxBodyBytes > 0 ? BodyWithinLimit : NoBody)} from (
              select * from audit_event
              where conversation_id = any(array(select conversation_id from audit_event where message_id = @messageId))
              order by coalesce(first_id, id) limit @limit) e
            order by coalesce(e.first_id, e.id)
            """,
            new DynamicParameters(
                new
                {
                    messageId = query.MessageId,
                    limit = query.Limit,
                    maxBodyBytes = query.MaxBodyBytes,
                }
            )
        );

    // As the database compares times.
    private static long Microseconds(DateTimeOffset time) => time.UtcTicks / TimeSpan.TicksPerMicrosecond;
}
