using System.Globalization;
using Esb.Core.Messages;
using Esb.Core.Storage;

namespace Esb.Storage.Files.Claims;

/// <summary>Bodies that travel as a reference, in a folder shared by all hosts: one file each, in a folder per day.</summary>
internal sealed class FolderClaimCheckStore(string folder, TimeSpan retention, TimeProvider time) : IClaimCheckStore
{
    private const string DayFormat = "yyyyMMdd";

    public bool IsAvailable => true;

    public Task<ClaimTicket> PutAsync(ReadOnlyMemory<byte> body, CancellationToken cancellationToken) =>
        TryAsync(
            async () =>
            {
                var ticket = ClaimTicket.For(body, time);
                var path = PathOf(ticket);
                var day = Path.GetDirectoryName(path)!;
                if (!Directory.Exists(day))
                    MakeDay(day);
                var unfinished = $"{path}.part";
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

    public Task<MessageBody?> FindAsync(ClaimTicket ticket, CancellationToken cancellationToken) =>
        TryAsync<MessageBody?>(
            async () =>
            {
                if (!Directory.EnumerateFileSystemEntries(folder).Any() && ticket.KeptAt > time.GetUtcNow() - retention)
                    throw new IOException($"'{folder}' is empty: it may not be mounted."); // not the same as a missing body
                var path = PathOf(ticket);
                return ticket.Redeem(File.Exists(path) ? await File.ReadAllBytesAsync(path, cancellationToken) : null);
            },
            StoreErrors.NotReached
        );

    /// <summary>Deletes the days that are older than the retention.</summary>
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
        }
    }

    private string PathOf(ClaimTicket ticket) =>
        Path.Combine(folder, ticket.KeptAt.ToString(DayFormat, CultureInfo.InvariantCulture), $"{ticket.Id:N}.body");

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
