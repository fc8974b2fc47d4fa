using Dapper;
using Esb.Core.Storage;
using Npgsql;

namespace Esb.Storage.Postgres;

/// <summary>Keys of requests in PostgreSQL, for all hosts.</summary>
internal sealed class PostgresIdempotencyKeys(PostgresDatabase database, TimeProvider time) : IIdempotencyKeys
{
    private const string OfClaim = "where endpoint = @Endpoint and client = @Client and key = @Value and token = @Token";

    private static readonly string Lease = $"interval '{IIdempotencyKeys.Lease.TotalSeconds} s'";

    private static readonly string Claim =
        $"""
        select outcome, status, content_type as ContentType, headers, body
        from claim_idempotency_key(@Endpoint, @Client, @Value, @BodyHash, @Token, @Process, {Lease}, interval '{IIdempotencyKeys.Window.TotalDays} days')
        """;

    // Answers that are not durable count until the process ends.
    private readonly Guid _process = Guid.CreateVersion7();

    public async Task<KeyClaim> ClaimAsync(IdempotencyKey key, ReadOnlyMemory<byte> bodyHash, CancellationToken cancellationToken)
    {
        var granted = new KeyClaim.Granted(key, bodyHash, Guid.CreateVersion7(time.GetUtcNow()));
        var parameters = ParametersOf(granted, new { BodyHash = bodyHash.ToArray(), Process = _process });
        var row = await RunAsync(connection => connection.QuerySingleAsync<Row>(new CommandDefinition(Claim, parameters, cancellationToken: cancellationToken)), cancellationToken);
        return row.Outcome switch
        {
            "granted" => granted,
            "running" => new KeyClaim.Running(),
            "answered" => new KeyClaim.Answered(row.ToAnswer()),
            _ => new KeyClaim.Conflicting(),
        };
    }

    public Task RenewAsync(KeyClaim.Granted claim, CancellationToken cancellationToken) =>
        ExecuteAsync($"update idempotency_key set held_until = clock_timestamp() + {Lease} {OfClaim}", ParametersOf(claim, new { }), cancellationToken);

    public Task CompleteAsync(KeyClaim.Granted claim, RecordedAnswer answer, CancellationToken cancellationToken)
    {
        var values = new
        {
            Answerer = answer.IsDurable ? (Guid?)null : _process,
            answer.Status,
            ContentType = PostgresText.Clean(answer.ContentType),
            Headers = PostgresFields.ToJson(answer.Headers),
            Body = answer.Body?.ToArray(),
        };
        return ExecuteAsync(
            $"update idempotency_key set process = @Answerer, status = @Status, content_type = @ContentType, headers = @Headers::jsonb, body = @Body {OfClaim}",
            ParametersOf(claim, values),
            cancellationToken);
    }

    public Task ReleaseAsync(KeyClaim.Granted claim, CancellationToken cancellationToken) =>
        ExecuteAsync($"update idempotency_key set held_until = '-infinity' {OfClaim}", ParametersOf(claim, new { }), cancellationToken);

    private static DynamicParameters ParametersOf(KeyClaim.Granted claim, object more)
    {
        var parameters = new DynamicParameters(more);
        parameters.AddDynamicParams(new { claim.Key.Endpoint, Client = claim.Key.Client ?? "", claim.Key.Value, claim.Token });
        return parameters;
    }

    private Task ExecuteAsync(string sql, DynamicParameters parameters, CancellationToken cancellationToken) =>
        RunAsync(connection => connection.ExecuteAsync(new CommandDefinition(sql, parameters, cancellationToken: cancellationToken)), cancellationToken);

    private async Task<T> RunAsync<T>(Func<NpgsqlConnection, Task<T>> work, CancellationToken cancellationToken)
    {
        await using var connection = await database.OpenAsync(cancellationToken);
        try
        {
            try
            {
                return await work(connection);
            }
            catch (PostgresException ex) when (PostgresErrors.IsMissingPartition(ex))
            {
                database.KeyPartitions.Forget(); // the host slept over the days that it had made ahead
                await database.KeyPartitions.MakeAheadAsync(time.GetUtcNow(), cancellationToken);
                return await work(connection);
            }
        }
        catch (Exception ex) when (PostgresErrors.IsFailure(ex))
        {
            throw PostgresErrors.NotServed(ex);
        }
    }

    private sealed record Row
    {
        public string Outcome { get; init; } = "";

        public int Status { get; init; }

        public string? ContentType { get; init; }

        public string Headers { get; init; } = "{}";

        public byte[]? Body { get; init; }

        public RecordedAnswer ToAnswer() => new(Status, ContentType, PostgresFields.FromJson(Headers), Body is null ? null : (ReadOnlyMemory<byte>?)Body, IsDurable: true);
    }
}
