using System.Text.Json;
using Esb.Core.Storage;
using Npgsql;
using NpgsqlTypes;

namespace Esb.Storage.Postgres.DeadLetters;

/// <summary>Keeps a dead letter, or opens it again, and counts a failed replay: one statement, so that all of it happens or nothing.</summary>
internal static class PostgresLetterUpsert
{
    // What comes with the time of the last failure is that failure again. Of one that was replayed any other time is another failure: clocks of hosts differ.
    // A letter that comes back before it was marked as replayed has been sent: it is counted here, because it will not be marked any more.
    private const string Sql =
        """
        with known as (
          select id, state, job from dead_letter where id = $1 for update
        ), kept as (
          insert into dead_letter (id, message_id, endpoint, conversation_id, subject, content_type, correlation_id, key, party, created_at, attempt, headers, body,
            code, reason, exception_type, attempts, first_attempt, last_attempt, cause, failures, trace_parent)
          select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22
          where not exists (select from known)
          on conflict do nothing
          returning id
        ), opened as (
          update dead_letter letter set number = default, code = $14, reason = $15, exception_type = $16, attempts = attempts + $17, last_attempt = $19, cause = $20,
            failures = jsonb_path_query_array(failures || $21, '$[last - 99 to last]'),
            state = 'Open', replays = replays + case when known.state = 'Replaying' then 1 else 0 end, changed_at = now(), changed_by = null, note = null
          from known where letter.id = known.id and (letter.last_attempt < $19 or (known.state in ('Replaying', 'Replayed') and letter.last_attempt <> $19))
          returning known.state, known.job
        ), failed as (
          select job, state = 'Replaying' as is_sent from opened where state in ('Replaying', 'Replayed')
          union all
          (select job, false from dead_letter where exists (select from kept) and replayed_as = $2 and replayed_to = $3 and id <> $1 order by number desc limit 1)
        )
        update replay_job job set failed = job.failed + 1, replayed = job.replayed + case when failed.is_sent then 1 else 0 end
        from failed where job.id = failed.job
        """;

    public static NpgsqlCommand Command(NpgsqlDataSource database, DeadLetter letter)
    {
        var command = database.CreateCommand(Sql);
        var parameters = command.Parameters;
        var message = letter.Message;
        Add(letter.Id, NpgsqlDbType.Uuid);
        Add(message.Id, NpgsqlDbType.Uuid);
        AddText(letter.Endpoint);
        Add(message.ConversationId, NpgsqlDbType.Uuid);
        AddText(message.Subject);
        AddText(message.ContentType);
        AddText(message.CorrelationId);
        AddText(message.Key);
        AddText(message.Party);
        Add(message.CreatedAt.UtcDateTime, NpgsqlDbType.TimestampTz);
        Add(message.Attempt, NpgsqlDbType.Integer);
        Add(PostgresFields.ToJson(new Dictionary<string, string>(message.Headers)), NpgsqlDbType.Jsonb);
        Add(message.Body.Bytes, NpgsqlDbType.Bytea);
        AddText(letter.Code);
        AddText(letter.Reason);
        AddText(letter.ExceptionType);
        Add(letter.Attempts, NpgsqlDbType.Integer);
        Add(letter.FirstAttempt.UtcDateTime, NpgsqlDbType.TimestampTz);
        Add(letter.LastAttempt.UtcDateTime, NpgsqlDbType.TimestampTz);
        AddText(DeadLetterCause.Of(letter.Reason));
        Add(FailuresOf(letter), NpgsqlDbType.Jsonb);
        AddText(letter.TraceParent);
        return command;

        void Add<T>(T value, NpgsqlDbType type) => parameters.Add(new NpgsqlParameter<T> { TypedValue = value, NpgsqlDbType = type });

        void AddText(string? text) => parameters.Add(new NpgsqlParameter { Value = PostgresText.Clean(text) ?? (object)DBNull.Value, NpgsqlDbType = NpgsqlDbType.Text });
    }

    private static string FailuresOf(DeadLetter letter) => JsonSerializer.Serialize(
        [.. letter.Failures.Select(failure => failure with { Code = PostgresText.Clean(failure.Code), Reason = PostgresText.Clean(failure.Reason) })],
        StorageJson.Default.IReadOnlyListFailedAttempt);
}
