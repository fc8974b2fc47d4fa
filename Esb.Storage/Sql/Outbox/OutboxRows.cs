using System.Diagnostics;
using Esb.Core.Storage;
using Esb.Core.Topics;

namespace Esb.Storage.Sql.Outbox;

/// <summary>Stores outgoing messages within the transaction of a change.</summary>
internal static class OutboxRows
{
    private const string Columns =
        "id, owner, claimed_until, endpoint, process, step, caused_by, trace_parent, queue, reply_to, reply_subject, reply_until, "
        + StoredEnvelope.Columns;

    public static SqlRows Of(string name, IReadOnlyCollection<OutboxMessage> messages, TimeSpan claim, IBodyCipher cipher) =>
        SqlRows.Of(
            name,
            messages,
            [
                ("out_id", SqlType.Id, row => row.Id),
                ("out_owner", SqlType.Text, row => row.Owner),
                ("out_claim", SqlType.Duration, _ => claim),
                ("out_endpoint", SqlType.Text, row => row.Message.Endpoint),
                ("out_process", SqlType.Text, row => row.Message.Process),
                ("out_step", SqlType.Text, row => row.Message.Step),
                ("out_caused", SqlType.Id, row => row.Message.CausedBy),
                ("out_trace", SqlType.Text, row => TraceOf(row.Message.Parent)),
                ("out_queue", SqlType.Text, row => row.Queue),
                ("out_reply_to", SqlType.Text, row => row.Message.ReplyTo?.Address),
                ("out_reply_subject", SqlType.Text, row => row.Message.ReplyTo?.RequestSubject),
                ("out_reply_until", SqlType.Time, row => row.Message.ReplyUntil),
                .. StoredEnvelope.ColumnsOf<OutboxMessage>("out", cipher, row => row.Message.Message),
            ]
        );

    public static string Insert(SqlDialect dialect, SqlRows rows) =>
        $"""
        insert into outbox ({Columns})
        select out_id, out_owner, clock_timestamp() + out_claim, out_endpoint, out_process, out_step, out_caused, out_trace, out_queue,
          out_reply_to, out_reply_subject, out_reply_until, {StoredEnvelope.SelectOf(
            "out"
        )}
        from {dialect.Rows(rows)} where true
        on conflict (id) do nothing
        """;

    public static OutboxMessage Read(SqlRow row, IBodyCipher cipher) =>
        new(
            row.Text("owner"),
            new OutgoingMessage(
                StoredEnvelope.Read(row, cipher),
                row.Text("endpoint"),
                row.TextOrNull("process"),
                ParentOf(row.TextOrNull("trace_parent"))
            )
            {
                CausedBy = row.IdOrNull("caused_by"),
                Step = row.TextOrNull("step"),
                ReplyTo = row.TextOrNull("reply_to") is { } address ? new AnswerAddress(address, row.Text("reply_subject")) : null,
                ReplyUntil = row.TimeOrNull("reply_until"),
            }
        )
        {
            Queue = row.TextOrNull("queue"),
        };

    public static string? TraceOf(ActivityContext parent) =>
        parent == default
            ? null
            : $"00-{parent.TraceId.ToHexString()}-{parent.SpanId.ToHexString()}-"
                + (parent.TraceFlags.HasFlag(ActivityTraceFlags.Recorded) ? "01" : "00");

    public static ActivityContext ParentOf(string? trace) =>
        ActivityContext.TryParse(trace, null, isRemote: true, out var parent) ? parent : default;
}
