using System.Text.Json;
using Esb.Core.Storage;

namespace Esb.Storage.Files;

/// <summary>Failed attempts as small files, one for each message that is repeated in place: of an endpoint or a lane there is one at a time, and none while nothing fails.</summary>
/// <remarks>Thread-safe, but for the same message at the same time.</remarks>
internal sealed class FileAttemptStore(string folder, TimeProvider time) : IAttemptStore
{
    private readonly MessageFiles _files = new(folder, ".attempts", time);

    public async Task<KeptAttempts?> FindAsync(string endpoint, Guid messageId, CancellationToken cancellationToken)
    {
        try
        {
            return await _files.ReadAsync(endpoint, messageId, cancellationToken) is { } json ? JsonSerializer.Deserialize(json, StorageJson.Default.KeptAttempts) : null;
        }
        catch (Exception ex) when (ex is JsonException || StoreErrors.IsWriteFailure(ex))
        {
            throw StoreErrors.NotReached(ex);
        }
    }

    public async Task KeepAsync(string endpoint, Guid messageId, KeptAttempts attempts, CancellationToken cancellationToken)
    {
        if (await FindAsync(endpoint, messageId, cancellationToken) is { } known && known.Count > attempts.Count) return;
        await _files.WriteAsync(endpoint, messageId, JsonSerializer.SerializeToUtf8Bytes(attempts, StorageJson.Default.KeptAttempts), cancellationToken);
    }

    public Task RemoveAsync(string endpoint, Guid messageId, CancellationToken cancellationToken) => _files.RemoveAsync(endpoint, messageId, cancellationToken);
}
