using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Storage.Segments;
using Esb.Storage.Sql;
using Esb.Storage.Sqlite;
using Microsoft.Extensions.Logging;

namespace Esb.Storage.TakeOver;

/// <summary>
/// Takes over the data that release 0.1 kept in separate folders beside the audit facts, before anything else uses the store. Each folder
/// is kept, as <c>….v1</c>, once all of it is in the database.
/// </summary>
internal sealed partial class EarlierFolder(string folder, SqlDatabase database, TimeProvider time, ILogger logger)
{
    private static readonly string[] Names = ["dead-letters", "parked", "idempotency-keys", "activities", "attempts"];

    /// <summary>The number of items per transaction, and between two lines of the log.</summary>
    public int Batch { get; init; } = 1000;

    /// <summary>Called after each transaction.</summary>
    public Action? Told { get; init; }

    /// <summary>Refuses to read a store with folders that have not been taken over.</summary>
    /// <exception cref="EsbException"><c>ESB-STORE-VERSION</c>.</exception>
    public static void RefuseToRead(string folder)
    {
        if (Names.FirstOrDefault(name => Directory.Exists(Path.Combine(folder, name))) is { } earlier)
            throw SqliteSchema.Wrong(
                $"The folder '{Path.Combine(folder, earlier)}' is of release 0.1; start a host of this version, which takes it over."
            );
    }

    /// <exception cref="EsbException"><c>ESB-STORE-WRITE</c>; <c>ESB-STORE-INUSE</c>; <c>ESB-STORE-FOLDER</c>.</exception>
    public async Task TakeOverAsync(CancellationToken cancellationToken)
    {
        foreach (var name in Names)
        {
            var path = Path.Combine(folder, name);
            if (Directory.Exists(path))
                await TakeOverAsync(name, path, cancellationToken);
        }
    }

    private async Task TakeOverAsync(string name, string path, CancellationToken cancellationToken)
    {
        var taken = 0L;
        LogBegun(path);
        using (FolderLock.Take(path))
        {
            await Open(name, path)
                .TakeAsync(
                    count =>
                    {
                        taken = count;
                        LogProgress(path, count);
                        Told?.Invoke();
                    },
                    cancellationToken
                );
        }

        var kept = $"{path}.v1";
        for (var number = 2; Directory.Exists(kept); number++)
            kept = $"{path}.v1-{number}"; // after a step back to that release
        try
        {
            Directory.Move(path, kept);
            DurableFolder.Flush(folder);
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            throw new EsbException(
                "ESB-STORE-FOLDER",
                $"The folder '{path}' was taken over, but cannot be renamed to '{kept}': {ex.Message}",
                FaultKind.Internal,
                ex
            );
        }

        LogDone(path, taken, kept);
    }

    private EarlierPart Open(string name, string path) =>
        name switch
        {
            "dead-letters" => new EarlierLetters(path, database, Batch, logger),
            "parked" => new EarlierParking(path, database, Batch, logger),
            "idempotency-keys" => new EarlierKeys(path, database, Batch, time, logger),
            "activities" => new EarlierActivities(path, database, Batch, logger),
            _ => new EarlierAttempts(path, database, Batch, logger),
        };

    [LoggerMessage(
        EventId = 4592,
        Level = LogLevel.Information,
        Message = "taking over {Folder}, which release 0.1 wrote, into the database of the store"
    )]
    private partial void LogBegun(string folder);

    [LoggerMessage(EventId = 4593, Level = LogLevel.Information, Message = "taking over {Folder}: {Count} so far")]
    private partial void LogProgress(string folder, long count);

    [LoggerMessage(EventId = 4594, Level = LogLevel.Information, Message = "{Folder} was taken over: {Count} in all; it is kept as {Kept}")]
    private partial void LogDone(string folder, long count, string kept);
}
