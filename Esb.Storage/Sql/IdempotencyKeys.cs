using System.Collections.Concurrent;
using Esb.Core.Storage;

namespace Esb.Storage.Sql;

/// <summary>
/// Keys of requests in the table <c>idempotency_key</c>, for all hosts that share it. Claims of one key wait for one another.
/// </summary>
internal sealed class IdempotencyKeys(SqlDatabase database, TimeProvider time) : IIdempotencyKeys
{
    private const string OfKey = "endpoint = @endpoint and client = @client and key = @key";
    private const string OfClaim = $"where {OfKey} and token = @token";

    // A table that is partitioned by time cannot keep a key unique over its partitions: hence the lock. Hosts of release 0.1 take the same
    // one.
    private const string LockName = "concat_ws(E'\\n', @endpoint, @client, @key)";

    private const string Latest = $"""
        select claimed_at, body_hash, held_until > clock_timestamp() as is_held, token, process, status, content_type, headers, body from
          idempotency_key
        where {OfKey} and claimed_at > now() - @window order by claimed_at desc limit 1
        """;

    private const string Insert = """
        insert into idempotency_key (endpoint, client, key, claimed_at, body_hash, token, held_until)
        values (@endpoint, @client, @key, clock_timestamp(), @bodyHash, @token, clock_timestamp() + @lease)
        """;

    private const string TakeAgain = $"""
        update idempotency_key set token = @token, held_until = clock_timestamp() + @lease, process = null, status = null, content_type =
          null, headers = null, body = null
        where {OfKey} and claimed_at = @claimedAt
        """;

    // Runs along the claims of one client at one endpoint, newest first.
    private const string Trim = """
        delete from idempotency_key where endpoint = @endpoint and client = @client and claimed_at < (
          select min(claimed_at) from (
            select claimed_at from idempotency_key where endpoint = @endpoint and client = @client order by claimed_at desc limit @most)
              newest)
        """;

    private readonly ConcurrentDictionary<(string Endpoint, string Client), int> _granted = new();

    // Answers that are not durable count until the process ends.
    private readonly Guid _process = Guid.CreateVersion7();

    /// <summary>Keys that each client may keep at an endpoint; the oldest go first.</summary>
    public int MostKeys { get; init; } = 1_000_000;

    /// <summary>Keys that all clients without a credential may keep at an endpoint; also those of <c>dedupe</c>, which count only while
    /// they are held.</summary>
    public int MostKeysOfStrangers { get; init; } = 100_000;

    /// <summary>New keys between two looks at how many there are.</summary>
    public int TrimInterval { get; init; } = 1_000;

    public Task<KeyClaim> ClaimAsync(IdempotencyKey key, ReadOnlyMemory<byte> bodyHash, CancellationToken cancellationToken) =>
        database.TransactAsync<KeyClaim>(
            async session =>
            {
                var granted = new KeyClaim.Granted(key, bodyHash, Guid.CreateVersion7(time.GetUtcNow()));
                var known = await FindAsync(session, granted);
                if (known is null)
                {
                    await session.ExecuteAsync(Insert, With(granted, ("bodyHash", bodyHash), ("lease", IIdempotencyKeys.Lease)));
                    await TrimAsync(session, key);
                    return granted;
                }

                if (!known.BodyHash.AsSpan().SequenceEqual(bodyHash.Span))
                    return new KeyClaim.Conflicting();
                if (known.Answer is { } answer && (known.Process is null || known.Process == _process))
                    return new KeyClaim.Answered(answer);
                if (known is { Answer: null, IsHeld: true })
                    return new KeyClaim.Running();

                await session.ExecuteAsync(TakeAgain, With(granted, ("claimedAt", known.ClaimedAt), ("lease", IIdempotencyKeys.Lease)));
                return granted;
            },
            cancellationToken
        );

    public Task RenewAsync(KeyClaim.Granted claim, CancellationToken cancellationToken) =>
        database.ExecuteAsync(
            $"update idempotency_key set held_until = clock_timestamp() + @lease {OfClaim}",
            cancellationToken,
            With(claim, ("lease", IIdempotencyKeys.Lease))
        );

    public Task CompleteAsync(KeyClaim.Granted claim, RecordedAnswer answer, CancellationToken cancellationToken) =>
        database.ExecuteAsync(
            $"update idempotency_key set process = @answerer, status = @status, content_type = @contentType, headers = @headers, "
                + $"body = @body {OfClaim}",
            cancellationToken,
            With(
                claim,
                ("answerer", answer.IsDurable ? null : _process),
                ("status", answer.Status),
                ("contentType", answer.ContentType),
                ("headers", new SqlJson(StoredJson.Of(answer.Headers))),
                ("body", answer.Body is { } body ? (ReadOnlyMemory<byte>?)database.Cipher.Seal(body, claim.Token) : null)
            )
        );

    public Task ReleaseAsync(KeyClaim.Granted claim, CancellationToken cancellationToken) =>
        database.ExecuteAsync(
            $"update idempotency_key set held_until = @over {OfClaim}",
            cancellationToken,
            With(claim, ("over", DateTimeOffset.UnixEpoch))
        );

    // Now and then, so that a client that sends a new key each time fills neither disk nor window.
    private async Task TrimAsync(SqlSession session, IdempotencyKey key)
    {
        var client = key.Client ?? "";
        if (_granted.AddOrUpdate((key.Endpoint, client), 1, static (_, count) => count + 1) % TrimInterval != 0)
            return;
        await session.ExecuteAsync(
            Trim,
            [
                ("endpoint", key.Endpoint),
                ("client", client),
                ("most", key.Client is null or IdempotencyKey.Dedupe ? MostKeysOfStrangers : MostKeys),
            ]
        );
    }

    private async Task<Known?> FindAsync(SqlSession session, KeyClaim.Granted claim)
    {
        await using var found = await session.QueryManyAsync(
            $"{session.Dialect.Lock(LockName)}; {Latest}",
            With(claim, ("window", IIdempotencyKeys.Window))
        );
        await found.ReadAsync(_ => true);
        return await found.FirstAsync(row => new Known(
            row.Time("claimed_at"),
            row.Bytes("body_hash"),
            row.Flag("is_held"),
            row.IdOrNull("process"),
            AnswerOf(row)
        ));
    }

    private RecordedAnswer? AnswerOf(SqlRow row) =>
        row.IntOrNull("status") is not { } status
            ? null
            : new RecordedAnswer(
                status,
                row.TextOrNull("content_type"),
                row.Fields("headers"),
                row.BytesOrNull("body") is { } body ? (ReadOnlyMemory<byte>?)database.Cipher.Open(body, row.Id("token")) : null,
                IsDurable: row.IdOrNull("process") is null
            );

    private static (string Name, object? Value)[] With(KeyClaim.Granted claim, params (string Name, object? Value)[] others) =>
        [("endpoint", claim.Key.Endpoint), ("client", claim.Key.Client ?? ""), ("key", claim.Key.Value), ("token", claim.Token), .. others];

    private sealed record Known(DateTimeOffset ClaimedAt, byte[] BodyHash, bool IsHeld, Guid? Process, RecordedAnswer? Answer);
}
