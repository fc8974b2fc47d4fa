using Esb.Core.Storage;
using Esb.Storage.Files;
using Npgsql;
using NpgsqlTypes;

namespace Esb.Storage.Postgres;

/// <summary>Dead letters in PostgreSQL.</summary>
internal sealed class PostgresDeadLetterStore(PostgresDatabase database) : IDeadLetterStore
{
    private const string Insert =
        """
        insert into dead_letter (message_id, endpoint, conversation_id, subject, content_type, correlation_id, key, party, created_at, attempt, headers, body, code, reason, exception_type, attempts, first_attempt, last_attempt)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
        on conflict do nothing
        """;

    private const string Select =
        """
        select message_id as Id, endpoint, conversation_id as ConversationId, subject, content_type as ContentType, correlation_id as CorrelationId, key, party,
          created_at as CreatedAt, attempt, headers, body, code, reason, exception_type as ExceptionType, attempts, first_attempt as FirstAttempt, last_attempt as LastAttempt
        from dead_letter order by number desc limit @limit
        """;

    public Task AddAsync(DeadLetter letter, CancellationToken cancellationToken) =>
        database.RunAsync(
            async () =>
            {
                await using var command = database.Source.CreateCommand(Insert);
                AddParameters(command.Parameters, StoredDeadLetter.From(letter), letter.Message.Body.Bytes);
                await command.ExecuteNonQueryAsync(cancellationToken);
            },
            cancellationToken);

    public IAsyncEnumerable<DeadLetter> ListAsync(int limit, CancellationToken cancellationToken) =>
        database.QueryAsync<PostgresDeadLetterRow>(Select, new { limit = Math.Clamp(limit, 1, 1000) }, cancellationToken).Select(row => row.ToLetter());

    private static void AddParameters(NpgsqlParameterCollection parameters, StoredDeadLetter letter, ReadOnlyMemory<byte> body)
    {
        parameters.Add(new NpgsqlParameter<Guid> { TypedValue = letter.Id });
        AddText(letter.Endpoint);
        parameters.Add(new NpgsqlParameter<Guid> { TypedValue = letter.ConversationId });
        AddText(letter.Subject);
        AddText(letter.ContentType);
        AddText(letter.CorrelationId);
        AddText(letter.Key);
        AddText(letter.Party);
        parameters.Add(new NpgsqlParameter<DateTime> { TypedValue = letter.CreatedAt.UtcDateTime });
        parameters.Add(new NpgsqlParameter<int> { TypedValue = letter.Attempt });
        parameters.Add(new NpgsqlParameter<string> { TypedValue = PostgresFields.ToJson(letter.Headers), NpgsqlDbType = NpgsqlDbType.Jsonb });
        parameters.Add(new NpgsqlParameter<ReadOnlyMemory<byte>> { TypedValue = body, NpgsqlDbType = NpgsqlDbType.Bytea });
        AddText(letter.Code);
        AddText(letter.Reason);
        AddText(letter.ExceptionType);
        parameters.Add(new NpgsqlParameter<int> { TypedValue = letter.Attempts });
        parameters.Add(new NpgsqlParameter<DateTime> { TypedValue = letter.FirstAttempt.UtcDateTime });
        parameters.Add(new NpgsqlParameter<DateTime> { TypedValue = letter.LastAttempt.UtcDateTime });

        void AddText(string? text) => parameters.Add(new NpgsqlParameter { Value = PostgresText.Clean(text) ?? (object)DBNull.Value, NpgsqlDbType = NpgsqlDbType.Text });
    }
}
