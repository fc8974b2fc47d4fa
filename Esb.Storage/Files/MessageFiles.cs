using Esb.Core.Storage;

namespace Esb.Storage.Files;

/// <summary>Small files that each say something of one message at one endpoint, until it is settled. A write leaves the old text or the new one; files that nobody touched for as long as attempts are kept go with it.</summary>
/// <remarks>Thread-safe, but for the same message at the same time.</remarks>
internal sealed class MessageFiles(string folder, string extension, TimeProvider time)
{
    /// <summary>What the file says; null where there is none.</summary>
    /// <exception cref="IOException">It cannot be read.</exception>
    /// <exception cref="UnauthorizedAccessException">It may not be read.</exception>
    public async Task<byte[]?> ReadAsync(string endpoint, Guid messageId, CancellationToken cancellationToken)
    {
        var path = PathOf(endpoint, messageId);
        return File.Exists(path) ? await File.ReadAllBytesAsync(path, cancellationToken) : null;
    }

    /// <summary>Writes the file through to the disk.</summary>
    /// <exception cref="Esb.Core.Errors.EsbException">It cannot be written.</exception>
    public async Task WriteAsync(string endpoint, Guid messageId, ReadOnlyMemory<byte> text, CancellationToken cancellationToken)
    {
        try
        {
            Directory.CreateDirectory(folder);
            RemoveOld();
            var path = PathOf(endpoint, messageId);
            var unfinished = $"{path}.part";
            await using (var file = new FileStream(unfinished, FileMode.Create, FileAccess.Write))
            {
                await file.WriteAsync(text, cancellationToken);
                file.Flush(flushToDisk: true);
            }

            File.Move(unfinished, path, overwrite: true);
        }
        catch (Exception ex) when (StoreErrors.IsWriteFailure(ex))
        {
            throw StoreErrors.NotWritten(ex);
        }
    }

    /// <summary>Removes the file, if there is one.</summary>
    /// <exception cref="Esb.Core.Errors.EsbException">It cannot be removed.</exception>
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

    private string PathOf(string endpoint, Guid messageId) => Path.Combine(folder, $"{endpoint}-{messageId:N}{extension}");

    private void RemoveOld()
    {
        var before = AttemptRetention.Oldest(time).UtcDateTime;
        foreach (var path in Directory.EnumerateFiles(folder, $"*{extension}*").Where(path => File.GetLastWriteTimeUtc(path) < before)) File.Delete(path);
    }
}
