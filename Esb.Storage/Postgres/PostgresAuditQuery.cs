using System.Buffers.Binary;
using Dapper;
using Esb.Core.Audit;

namespace Esb.Storage.Postgres;

/// <summary>The questions that audit facts are asked, as SQL.</summary>
internal static class PostgresAuditQuery
{
    public const string Columns =
        """
        e.id, e.occurred_at as OccurredAt, e.kind, e.message_id as MessageId, e.conversation_id as ConversationId, e.caused_by as CausedBy, e.endpoint, e.process, e.step, e.name, e.subject,
        e.attempt, e.duration, e.code, e.reason, e.trace_id as TraceId, e.party, e.host, e.revision, e.fields, e.headers, e.content_type as ContentType,
        e.body_encoding as BodyEncoding, e.body_state as BodyState, e.body_length as BodyLength, e.body_hash as BodyHash,
        e.body_digest as BodyDigest, e.body_digest is not null and e.body is null as IsErased
        """;

    public const string Body = "e.body";
    private const string NoBody = "null::bytea as body";

    // How long a body is stands beside it: bodies for which there is no room are not read.
    private const string BodyWithinLimit = "case when sum(coalesce(octet_length(e.body), 0)) over (order by e.id) <= @maxBodyBytes then e.body end as body";

    // Ids begin with the time at which a fact was made, which is that of the fact but for moments: so a span of time is a span of an index that is in the order of ids.
    private static readonly TimeSpan Slack = TimeSpan.FromMinutes(5);

    /// <summary>Newest first. One of the fields leads the way through its index, in the order of time; the others are looked at in what it finds.</summary>
    public static (string Sql, DynamicParameters Parameters) Find(AuditQuery query)
    {
        var parameters = new DynamicParameters(new { limit = Math.Clamp(query.Limit, 1, 1000) });
        var conditions = new List<string>();
        var (source, id) = ("audit_event e", "e.id");
        if (query.Where.Count > 0)
        {
            (source, id) = ("audit_field f join audit_event e on e.id = f.event_id and e.occurred_at = f.occurred_at", "f.event_id");
            var (name, value) = PostgresFields.Indexed(query.Where.First());
            Add("f.name = @name", "name", name);
            Add("f.value = @value", "value", value);
            Add("e.fields @> @fields::jsonb", "fields", PostgresFields.ToJson(query.Where));
        }

        if (query.Endpoint is not null) Add("e.endpoint = @endpoint", "endpoint", PostgresText.Clean(query.Endpoint));
        if (query.MessageId is not null) Add("e.message_id = @messageId", "messageId", query.MessageId);
        if (query.Process is not null) Add("e.process = @process", "process", PostgresText.Clean(query.Process));
        if (query.Party is not null) Add("e.party = @party", "party", PostgresText.Clean(query.Party));
        if (query.TraceId is not null) Add("e.trace_id = @traceId", "traceId", PostgresText.Clean(query.TraceId));
        if (query.Kind is not null) Add($"e.kind = '{query.Kind}'", null, null); // a constant, so that the index of failures can serve
        else if (query.OnlyFailures) Add($"e.kind in ({string.Join(", ", AuditQuery.Failures.Select(kind => $"'{kind}'"))})", null, null);
        if (query.From is { } from)
        {
            Add("e.occurred_at >= @from", "from", from.UtcDateTime);
            Add($"{id} >= @fromId", "fromId", FirstIdOf(from - Slack));
        }

        if (query.To is { } to)
        {
            Add("e.occurred_at < @to", "to", to.UtcDateTime);
            Add($"{id} < @toId", "toId", FirstIdOf(to + Slack));
        }

        if (query.Before is not null) Add($"{id} < @before", "before", query.Before);

        var where = conditions.Count == 0 ? "" : $"where {string.Join(" and ", conditions)}";
        return ($"select {Columns}, {(query.WithBodies ? Body : NoBody)} from {source} {where} order by {id} desc limit @limit", parameters);

        void Add(string condition, string? parameter, object? value)
        {
            conditions.Add(condition);
            if (parameter is not null) parameters.Add(parameter, value);
        }
    }

    // The smallest UUID of version 7 of a moment.
    private static Guid FirstIdOf(DateTimeOffset time)
    {
        Span<byte> bytes = stackalloc byte[16];
        bytes.Clear();
        BinaryPrimitives.WriteInt64BigEndian(bytes, Math.Max(time.ToUnixTimeMilliseconds(), 0) << 16);
        return new Guid(bytes, bigEndian: true);
    }

    /// <summary>The oldest first.</summary>
    public static (string Sql, DynamicParameters Parameters) Journey(AuditJourneyQuery query) => (
        $"""
        select {Columns}, {(query.MaxBodyBytes > 0 ? BodyWithinLimit : NoBody)} from (
          select * from audit_event
          where conversation_id = any(array(select conversation_id from audit_event where message_id = @messageId))
          order by id limit @limit) e
        order by e.id
        """,
        new DynamicParameters(new { messageId = query.MessageId, limit = query.Limit, maxBodyBytes = query.MaxBodyBytes }));
}
