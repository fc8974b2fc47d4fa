using System.Globalization;
using Esb.Core.Messages;
using Esb.Core.Storage;

namespace Esb.Storage.Files.Claims;

/// <summary>Bodies that travel as a reference, in a folder shared by all hosts: one file each, in a folder per day.</summary>
internal sealed class FolderClaimCheckStore(string folder, TimeSpan retention, TimeProvider time) : IClaimCheckStore
{
    private const string DayFormat = "yyyyMMdd";
    private const string Whole = ".body";
    private const string Streamed = ".stream"; // stored as it came, and read as it is
    private const string Unfinished = ".part";

    private static readonly TimeSpan LongestWrite = TimeSpan.FromDays(1);

    public bool IsAvailable => true;

    public bool TakesStreams => true;

    public Task<ClaimTicket> PutAsync(ReadOnlyMemory<byte> body, CancellationToken cancellationToken) =>
        TryAsync(
            async () =>
            {
                var ticket = ClaimTicket.For(body, time);
                var path = PathOf(ticket.Id, Whole);
                var day = Path.GetDirectoryName(path)!;
                if (!Directory.Exists(day))
                    MakeDay(day);
                var unfinished = $"{path}{Unfinished}";
                await using (var file = OwnerFile.Open(unfinished, FileMode.CreateNew, options: FileOptions.Asynchronous))
                {
                    await file.WriteAsync(body, cancellationToken);
                    file.Flush(flushToDisk: true);
                }

                File.Move(unfinished, path);
                DurableFolder.Flush(day);
                return ticket;
            },
            StoreErrors.NotWritten
        );

    public Task<ClaimTicket> PutAsync(MessageBody body, CancellationToken cancellationToken) =>
        TryAsync(
            async () =>
            {
                var id = Guid.CreateVersion7(time.GetUtcNow());
                var path = PathOf(id, Streamed);
                var day = Path.GetDirectoryName(path)!;
                if (!Directory.Exists(day))
                    MakeDay(day);
                var unfinished = $"{path}{Unfinished}";
                try
                {
                    var ticket = await WriteAsync(id, body, unfinished, cancellationToken);
                    File.Move(unfinished, path);
                    DurableFolder.Flush(day);
                    return ticket;
                }
                catch
                {
                    File.Delete(unfinished);
                    throw;
                }
            },
            StoreErrors.NotWritten
        );

    public Task<MessageBody?> FindAsync(ClaimTicket ticket, CancellationToken cancellationToken) =>
        TryAsync<MessageBody?>(
            async () =>
            {
                if (!Directory.EnumerateFileSystemEntries(folder).Any() && ticket.KeptAt > time.GetUtcNow() - retention)
                    throw new IOException($"'{folder}' is empty: it may not be mounted."); // not the same as a missing body
                var streamed = new FileInfo(PathOf(ticket.Id, Streamed));
                if (streamed.Exists)
                    return MessageBody.FromSource(() => new ClaimedBody(streamed.OpenRead(), ticket), streamed.Length);
                var path = PathOf(ticket.Id, Whole);
                return ticket.Redeem(File.Exists(path) ? await File.ReadAllBytesAsync(path, cancellationToken) : null);
            },
            StoreErrors.NotReached
        );

    /// <summary>Deletes the days that are older than the retention, and what hosts left that were killed while they wrote.</summary>
    public void DeleteOld()
    {
        if (!Directory.Exists(folder))
            return;
        var oldest = DateOnly.FromDateTime((time.GetUtcNow() - retention).UtcDateTime);
        foreach (var path in Directory.EnumerateDirectories(folder))
        {
            if (
                DateOnly.TryParseExact(Path.GetFileName(path), DayFormat, CultureInfo.InvariantCulture, DateTimeStyles.None, out var day)
                && day < oldest
            )
                Directory.Delete(path, recursive: true);
            else
                DeleteUnfinished(path);
        }
    }

    private static async Task<ClaimTicket> WriteAsync(Guid id, MessageBody body, string path, CancellationToken cancellationToken)
    {
        await using var file = OwnerFile.Open(path, FileMode.CreateNew, options: FileOptions.Asynchronous);
        await using var digest = new DigestStream(file);
        await body.CopyToAsync(digest, cancellationToken);
        file.Flush(flushToDisk: true);
        return ClaimTicket.For(id, digest.Digest);
    }

    private void DeleteUnfinished(string day)
    {
        foreach (var file in new DirectoryInfo(day).EnumerateFiles($"*{Unfinished}"))
        {
            if (file.LastWriteTimeUtc < (time.GetUtcNow() - LongestWrite).UtcDateTime)
                file.Delete();
        }
    }

    private string PathOf(Guid id, string ending) =>
        Path.Combine(folder, ClaimTicket.TimeOf(id).ToString(DayFormat, CultureInfo.InvariantCulture), $"{id:N}{ending}");

    private void MakeDay(string day)
    {
        OwnerFolder.Make(day);
        DurableFolder.Flush(folder);
    }

    private static async Task<T> TryAsync<T>(Func<Task<T>> work, Func<Exception, Exception> failure)
    {
        try
        {
            return await work();
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            throw failure(ex);
        }
    }
}
