using Esb.Core.Storage;
using Esb.Storage.Sql;
using Microsoft.Extensions.Logging;

namespace Esb.Storage.TakeOver;

/// <summary>Keys of requests. The last record of a key counts.</summary>
internal sealed class EarlierKeys(string path, SqlDatabase database, int batch, TimeProvider time, ILogger logger)
    : EarlierPart(path, database, batch)
{
    private const string Keep = """
        delete from idempotency_key where endpoint = @endpoint and client = @client and key = @key;
        insert into idempotency_key (endpoint, client, key, claimed_at, body_hash, token, held_until, process, status, content_type,
          headers, body)
        values (@endpoint, @client, @key, @claimedAt, @bodyHash, @token, @over, @process, @status, @contentType, @headers, @body)
        """;

    public override Task TakeAsync(Action<long> told, CancellationToken cancellationToken)
    {
        var oldest = time.GetUtcNow() - IIdempotencyKeys.Window;
        var keys = new EarlierRecords(Path, logger)
            .Read(EarlierKey.Read)
            .Where(found => found.Key.Time > oldest)
            // The memory of a record is reused for the next one.
            .Select(found => (found.Key, Body: found.Body is { } body ? (ReadOnlyMemory<byte>?)body.ToArray() : null));
        return KeepAsync(keys, (session, found) => KeepAsync(session, found.Key, found.Body), told, cancellationToken);
    }

    private static Task KeepAsync(SqlSession session, EarlierKey key, ReadOnlyMemory<byte>? body) =>
        session.ExecuteAsync(
            Keep,
            ("endpoint", key.Endpoint),
            ("client", key.Client ?? ""),
            ("key", key.Key),
            ("claimedAt", key.Time),
            ("bodyHash", key.BodyHash),
            ("token", Guid.CreateVersion7()),
            ("over", DateTimeOffset.UnixEpoch),
            ("process", key.Process),
            ("status", key.Status),
            ("contentType", key.ContentType),
            ("headers", key.Headers is null ? null : new SqlJson(StoredJson.Of(key.Headers))),
            ("body", body)
        );
}
