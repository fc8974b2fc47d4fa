using Esb.Core.Storage;

namespace Esb.Storage.Sql.DeadLetters;

/// <summary>A row of <c>dead_letter</c>.</summary>
internal static class LetterRow
{
    /// <summary>The columns that lists show.</summary>
    public const string SummaryColumns = $"""
        number, id, message_id, endpoint, conversation_id, subject, key, created_at, code, substr(reason, 1, 500) as reason_start, attempts,
          first_attempt, last_attempt,
        {SqlText.BodyBytes} as body_bytes, state, changed_at, changed_by, note, job, replays, replayed_as, replayed_to
        """;

    /// <summary>All columns.</summary>
    public const string Columns =
        $"{SummaryColumns}, content_type, correlation_id, party, attempt, headers, body, reason, exception_type, failures, trace_parent";

    public static DeadLetterSummary Summary(SqlRow row) =>
        new()
        {
            Id = row.Id("id"),
            Number = row.Long("number"),
            MessageId = row.Id("message_id"),
            ConversationId = row.Id("conversation_id"),
            Endpoint = row.Text("endpoint"),
            Subject = row.Text("subject"),
            Key = row.TextOrNull("key"),
            Code = row.Text("code"),
            Reason = row.Text("reason_start"),
            Attempts = row.Int("attempts"),
            FirstAttempt = row.Time("first_attempt"),
            LastAttempt = row.Time("last_attempt"),
            BodyBytes = row.Long("body_bytes"),
            State = row.State<DeadLetterState>("state"),
            ChangedAt = row.TimeOrNull("changed_at"),
            ChangedBy = row.TextOrNull("changed_by"),
            Note = row.TextOrNull("note"),
            Job = row.IdOrNull("job"),
            Replays = row.Int("replays"),
            ReplayedAs = row.IdOrNull("replayed_as"),
            ReplayedTo = row.TextOrNull("replayed_to"),
        };

    public static KeptDeadLetter Letter(SqlRow row, IBodyCipher cipher)
    {
        var summary = Summary(row);
        var letter = new DeadLetter(
            StoredEnvelope.Read(row, cipher),
            summary.Endpoint,
            summary.Code,
            row.Text("reason"),
            row.TextOrNull("exception_type"),
            summary.Attempts,
            summary.FirstAttempt,
            summary.LastAttempt
        )
        {
            Failures = row.Failures("failures"),
            TraceParent = row.TextOrNull("trace_parent"),
        };
        return new KeptDeadLetter(summary, letter);
    }

    public static DeadLetterGroup Group(SqlRow row) =>
        new(row.Text("endpoint"), row.Text("code"), row.TextOrNull("cause"), row.Long("count"), row.Time("oldest"), row.Time("newest"));
}
