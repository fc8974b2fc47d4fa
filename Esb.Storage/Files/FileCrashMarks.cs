using System.Globalization;
using Esb.Core.Storage;

namespace Esb.Storage.Files;

/// <summary>Marks as small files, one for each message that is being worked on: there is one at a time, and none while nothing dies.</summary>
/// <remarks>Thread-safe, but for the same message at the same time.</remarks>
internal sealed class FileCrashMarks(string folder, TimeProvider time) : ICrashMarks
{
    public async Task<int> AddAsync(string endpoint, Guid messageId, CancellationToken cancellationToken)
    {
        try
        {
            Directory.CreateDirectory(folder);
            RemoveOld();
            var path = PathOf(endpoint, messageId);
            var marks = 1 + (File.Exists(path) && int.TryParse(await File.ReadAllTextAsync(path, cancellationToken), CultureInfo.InvariantCulture, out var before) ? before : 0);
            await using var file = new FileStream(path, FileMode.Create, FileAccess.Write);
            await file.WriteAsync(System.Text.Encoding.ASCII.GetBytes(marks.ToString(CultureInfo.InvariantCulture)), cancellationToken);
            file.Flush(flushToDisk: true);
            return marks;
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

    private string PathOf(string endpoint, Guid messageId) => Path.Combine(folder, $"{endpoint}-{messageId:N}.mark");

    private void RemoveOld()
    {
        var before = AttemptRetention.Oldest(time).UtcDateTime;
        foreach (var path in Directory.EnumerateFiles(folder, "*.mark"))
        {
            if (File.GetLastWriteTimeUtc(path) < before) File.Delete(path);
        }
    }
}
