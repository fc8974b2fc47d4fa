using System.Runtime.CompilerServices;
using System.Security.Cryptography;
using Esb.Configuration;
using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Storage.Evidence;
using Esb.Storage.Postgres;
using Esb.Storage.Postgres.Audit;
using Esb.Storage.Postgres.Evidence;
using Esb.Storage.Spool;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Storage.Archives;

/// <summary>A day that was written to a file.</summary>
/// <param name="Day">The day (UTC).</param>
/// <param name="File">The file.</param>
/// <param name="Facts">The number of facts in the file.</param>
/// <param name="TakenBack">The number of facts that only the replaced file had: they were restored to the store.</param>
/// <param name="IsDropped">True if the store has dropped the day; also false if a fact arrived while the file was written.</param>
public sealed record ArchivedDay(DateOnly Day, string File, long Facts, long TakenBack, bool IsDropped);

/// <summary>A day that was restored to the store.</summary>
/// <param name="Day">The day (UTC).</param>
/// <param name="Facts">The number of facts in the file.</param>
/// <param name="Added">The number of facts that the store did not have.</param>
public sealed record RestoredDay(DateOnly Day, long Facts, long Added);

/// <summary>Writes days of audit facts to compressed files, drops them from the store and restores them (features F061, F228). Not
/// thread-safe.</summary>
public sealed class AuditArchive : IAsyncDisposable
{
    private const int GroupSize = 1_000;

    private readonly PostgresDatabase _database;
    private readonly PostgresEvidence _evidence;
    private readonly AuditEvidenceConfig _config;
    private readonly AnchorLog? _anchors;
    private readonly TimeProvider _time;

    internal AuditArchive(PostgresStoreConfig store, AuditEvidenceConfig config, bool readOnly, TimeProvider time, ILogger logger)
    {
        _database = new PostgresDatabase(store, readOnly, time, logger) { MakesDays = false };
        _evidence = new PostgresEvidence(_database, config);
        (_config, _time, _anchors) = (config, time, AnchorLog.TryOpen(config, time, logger));
    }

    /// <summary>Opens the store that a configuration names.</summary>
    /// <param name="store">The store.</param>
    /// <param name="evidence">The settings of its anchors.</param>
    /// <param name="readOnly">True to only read archives; otherwise tables of an earlier version are migrated, as at the start of a
    /// host.</param>
    /// <param name="time">The clock.</param>
    /// <param name="logger">The logger; null for none.</param>
    /// <exception cref="EsbException"><c>ESB-STORE-KIND</c>: it keeps its facts in segments, which can be copied as they are.</exception>
    public static AuditArchive Open(
        StoreConfig store,
        AuditEvidenceConfig evidence,
        bool readOnly,
        TimeProvider time,
        ILogger? logger = null
    ) =>
        store is PostgresStoreConfig postgres
            ? new AuditArchive(postgres, evidence, readOnly, time, logger ?? NullLogger.Instance)
            : throw new EsbException(
                "ESB-STORE-KIND",
                "Only the PostgreSQL store is archived day by day; the segments of a file store can be copied as they are.",
                FaultKind.Invalid
            );

    /// <summary>Writes each day before a given one to a file of its own in a folder, and drops it if requested. A day whose chains are
    /// broken is neither written nor dropped.</summary>
    /// <remarks>If facts arrived after their day was written and dropped, the contents of its file are restored first: the new file then
    /// holds all facts.</remarks>
    /// <param name="before">The first day (UTC) to keep.</param>
    /// <param name="folder">The folder; created if it does not exist.</param>
    /// <param name="drop">True to drop the days from the store.</param>
    /// <param name="tell">Receives each day.</param>
    /// <param name="cancellationToken">Cancels the operation between two days.</param>
    /// <returns>The verdict on the first broken day; null if there are none.</returns>
    /// <exception cref="EsbException">The store cannot be reached, or a file or an anchor cannot be written; <c>ESB-AUD-ARCHIVE</c>: a file
    /// would be replaced by one with fewer facts.</exception>
    /// <exception cref="InvalidDataException">The file of a day that is still, or again, in the store is not an archive, or is
    /// damaged.</exception>
    public async Task<AuditVerdict?> WriteAsync(
        DateOnly before,
        string folder,
        bool drop,
        Action<ArchivedDay> tell,
        CancellationToken cancellationToken
    )
    {
        await _database.EnsureReadyAsync(cancellationToken);
        OwnerFolder.Make(folder);
        foreach (var day in (await _database.Partitions.ListDaysAsync(cancellationToken)).Where(day => day < before))
        {
            var path = Path.Combine(folder, ArchiveFile.NameOf(day));
            var verdict = await _evidence.VerifyAsync(day, day, static _ => { }, cancellationToken);
            if (verdict is { TotalBreaks: 0, Facts: 0 })
                continue;
            var takenBack = 0L;
            // Only now, so that facts removed from the day are not restored unnoticed.
            if (verdict.TotalBreaks == 0 && File.Exists(path))
                (takenBack, verdict) = await TakeBackAsync(day, path, cancellationToken);
            if (verdict.TotalBreaks > 0)
                return verdict;
            tell(await WriteAsync(day, path, verdict.Facts, takenBack, drop, cancellationToken));
        }

        return null;
    }

    /// <summary>Verifies the chains in a file against the anchors that were written for them.</summary>
    /// <exception cref="InvalidDataException">The file is not an archive, or is damaged.</exception>
    /// <exception cref="EsbException">The store, which records erasures, or the anchors cannot be read.</exception>
    public async Task<AuditVerdict> VerifyAsync(string file, Action<FollowedChain> tell, CancellationToken cancellationToken)
    {
        var day = (await ArchiveFile.ReadHeaderAsync(file, cancellationToken)).Day;
        var hash = await HashAsync(file, cancellationToken);
        var anchors = AnchorBook.OfArchive(_config, day, hash);
        var verification = new Verification(anchors, _evidence.ErasedUntilAsync, tell);
        await verification.ReadDayAsync(day, Read(file, anchors.IsAsArchived(day, hash), cancellationToken), cancellationToken);
        return verification.Complete(day, day);
    }

    /// <summary>Restores the facts of a file to the store, with their places in their chains; existing facts are kept.
    /// Idempotent.</summary>
    /// <exception cref="InvalidDataException">The file is not an archive, or is damaged: then nothing was restored.</exception>
    /// <exception cref="EsbException">The store cannot be reached.</exception>
    public async Task<RestoredDay> RestoreAsync(string file, CancellationToken cancellationToken)
    {
        var day = (await ArchiveFile.ReadHeaderAsync(file, cancellationToken)).Day;
        // to its end, where the checksum is
        var facts = await ArchiveFile.ReadAsync(file, cancellationToken).LongCountAsync(cancellationToken);
        var added = 0L;
        await _database.RunAsync(
            async () =>
            {
                await _database.Partitions.MakeAsync([day], cancellationToken);
                await foreach (var group in GroupsOf(file, cancellationToken))
                    added += await PostgresKnownFacts.AddMissingAsync(_database.Source, group, cancellationToken);
            },
            cancellationToken
        );
        return new RestoredDay(day, facts, added);
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        if (_anchors is not null)
            await _anchors.DisposeAsync();
        await _database.DisposeAsync();
    }

    // The number of facts that only the file had, and the verdict on the day with these facts.
    private async Task<(long Added, AuditVerdict Verdict)> TakeBackAsync(DateOnly day, string path, CancellationToken cancellationToken)
    {
        if ((await ArchiveFile.ReadHeaderAsync(path, cancellationToken)).Day != day)
            throw new InvalidDataException($"'{path}' has the facts of another day.");
        var facts = Read(path, AnchorBook.Open(_config).IsAsArchived(day, await HashAsync(path, cancellationToken)), cancellationToken);
        var erased = await facts
            .Where(fact => fact is { IsErasureProven: true, Erased: not null })
            .Select(fact => fact.Erased!.Value)
            .ToHashSetAsync(cancellationToken: cancellationToken);
        return (
            (await RestoreAsync(path, cancellationToken)).Added,
            await _evidence.VerifyAsync(day, day, erased, static _ => { }, cancellationToken)
        );
    }

    // Erasures recorded in a file count only if the file is unchanged: otherwise the removal of a body could pass as an erasure.
    private static IAsyncEnumerable<StoredLink> Read(string file, bool isAsArchived, CancellationToken cancellationToken) =>
        ArchiveFile.ReadAsync(file, cancellationToken).Select(fact => fact with { IsErasureProven = fact.IsErasureProven && isAsArchived });

    private async Task<ArchivedDay> WriteAsync(
        DateOnly day,
        string path,
        long least,
        long takenBack,
        bool drop,
        CancellationToken cancellationToken
    )
    {
        try
        {
            var facts = await ArchiveFile.WriteAsync(
                path,
                new ArchiveHeader { Day = day, WrittenAt = _time.GetUtcNow() },
                ChainLinks.CompleteAsync(day, _evidence.ReadAsync(day, cancellationToken), cancellationToken),
                least,
                cancellationToken
            );
            return new ArchivedDay(day, path, facts, takenBack, drop && await DropAsync(day, path, facts, cancellationToken));
        }
        catch (Exception ex) when (StoreErrors.IsWriteFailure(ex))
        {
            throw StoreErrors.NotWritten(ex);
        }
    }

    // A fact that arrived while the file was written is not in it: the day is kept, and the next run archives it as a whole.
    private async Task<bool> DropAsync(DateOnly day, string path, long facts, CancellationToken cancellationToken)
    {
        var hash = await HashAsync(path, cancellationToken);
        var isDropped = false;
        await _database.RunAsync(
            async () =>
                isDropped = await _database.Partitions.TryDropAsync(
                    day,
                    facts,
                    () => _anchors?.Release(day, $"{Path.GetFileName(path)} sha256 {hash}"),
                    cancellationToken
                ),
            cancellationToken
        );
        return isDropped;
    }

    // Bodies that are small in the file may be very large in memory.
    private static async IAsyncEnumerable<IReadOnlyList<ChainedFact>> GroupsOf(
        string file,
        [EnumeratorCancellation] CancellationToken cancellationToken
    )
    {
        var (group, room) = (new List<ChainedFact>(), new PeekRoom(GroupSize));
        await foreach (var stored in ArchiveFile.ReadAsync(file, cancellationToken))
        {
            group.Add(ToChained(stored));
            room.Take(stored.Fact!);
            if (!room.IsFull)
                continue;
            yield return group;
            (group, room) = ([], new PeekRoom(GroupSize));
        }

        if (group.Count > 0)
            yield return group;
    }

    private static async Task<string> HashAsync(string path, CancellationToken cancellationToken)
    {
        await using var file = File.OpenRead(path);
        return Convert.ToHexStringLower(await SHA256.HashDataAsync(file, cancellationToken));
    }

    private static ChainedFact ToChained(StoredLink stored)
    {
        var @sealed = SealedFact.Of(stored.Fact!) with { BodyDigest = stored.BodyDigest };
        return new ChainedFact(@sealed, stored.Chain, stored.Chain is null ? null : new ChainHead(stored.Number, stored.Link));
    }
}
