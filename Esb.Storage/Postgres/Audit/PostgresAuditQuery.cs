using Dapper;
using Esb.Core.Audit;

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
        e.body_digest as BodyDigest, e.body_digest is not null and e.body is null as IsErased
        """;

    public const string Body = "e.body";
    private const string NoBody = "null::bytea as body";

    // How long a body is stands beside it: bodies for which there is no room are not read.
    private const string BodyWithinLimit =
        "case when sum(coalesce(octet_length(e.body), 0)) over (order by e.id) <= @maxBodyBytes then e.body end as body";

    /// <summary>Newest first: an index leads the way in the order of time, and is left where there are enough.</summary>
    public static (string Sql, DynamicParameters Parameters) Find(AuditQuery query)
    {
        var filter = new PostgresAuditFilter(query);
        var limit = Math.Clamp(query.Limit, 1, 1000); // in the text: how many are wanted decides how they are looked for
        return (
            FormattableString.Invariant(
                $"select {Columns}, {(query.WithBodies ? Body : NoBody)} {filter.Sql} order by e.id desc limit {limit}"
            ),
            filter.Parameters
        );
    }

    /// <summary>The oldest first.</summary>
    public static (string Sql, DynamicParameters Parameters) Journey(AuditJourneyQuery query) =>
        (
            $"""
            select {Columns}, {(query.MaxBodyBytes > 0 ? BodyWithinLimit : NoBody)} from (
              select * from audit_event
              where conversation_id = any(array(select conversation_id from audit_event where message_id = @messageId))
              order by id limit @limit) e
            order by e.id
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
}
