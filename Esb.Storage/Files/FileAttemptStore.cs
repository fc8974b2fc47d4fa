using System.Text.Json;
using Esb.Core.Storage;

namespace Esb.Storage.Files;

/// <summary>Failed attempts as small files, one for each message that is repeated in place: of an endpoint or a lane there is one at a time, and none while nothing fails.</summary>
/// <remarks>Thread-safe, but for the same message at the same time.</remarks>
internal sealed class FileAttemptStore(string folder, TimeProvider time) : IAttemptStore
{
    private const string Extension = ".attempts";

    public async Task<KeptAttempts?> FindAsync(string endpoint, Guid messageId, CancellationToken cancellationToken)
    {
        try
        {
            var path = PathOf(endpoint, messageId);
            return File.Exists(path) ? JsonSerializer.Deserialize(await File.ReadAllBytesAsync(path, cancellationToken), StorageJson.Default.KeptAttempts) : null;
        }
        catch (Exception ex) when (ex is JsonException || StoreErrors.IsWriteFailure(ex))
        {
            throw StoreErrors.NotReached(ex);
        }
    }

    public async Task KeepAsync(string endpoint, Guid messageId, KeptAttempts attempts, CancellationToken cancellationToken)
    {
        if (await FindAsync(endpoint, messageId, cancellationToken) is { } known && known.Count > attempts.Count) return;
        try
        {
            Directory.CreateDirectory(folder);
            RemoveOld();
            var path = PathOf(endpoint, messageId);
            var unfinished = $"{path}.part";
            await using (var file = new FileStream(unfinished, FileMode.Create, FileAccess.Write))
            {
                await JsonSerializer.SerializeAsync(file, attempts, StorageJson.Default.KeptAttempts, cancellationToken);
                file.Flush(flushToDisk: true);
            }

            File.Move(unfinished, path, overwrite: true); // never half a history
        }
        catch (Exception ex) when (StoreErrors.IsWriteFailure(ex))
        {
            throw StoreErrors.NotWritten(ex);
        }
    }

    public Task RemoveAsync(string endpoint, Guid messageId, CancellationToken cancellationToken)
    {
        try
        {
            if (Directory.Exists(folder)) File.Delete(PathOf(endpoint, messageId));
            return Task.CompletedTask;
        }
        catch (Exception ex) when (StoreErrors.IsWriteFailure(ex))
        {
            return Task.FromException(StoreErrors.NotWritten(ex));
        }
    }

    private string PathOf(string endpoint, Guid messageId) => Path.Combine(folder, $"{endpoint}-{messageId:N}{Extension}");

    private void RemoveOld()
    {
        var before = AttemptRetention.Oldest(time).UtcDateTime;
        foreach (var path in Directory.EnumerateFiles(folder, $"*{Extension}"))
        {
            if (File.GetLastWriteTimeUtc(path) < before) File.Delete(path);
        }
    }
}
