using System.Text.Json;
using Esb.Core.Activities;
using Esb.Storage.Activities;
using Esb.Storage.Segments;
using Microsoft.Extensions.Logging;

namespace Esb.Storage.Files.Activities;

/// <summary>Items of activities in memory, and what facts said of them in segments: for one process. The folder is opened when there is something to keep, or somebody asks.</summary>
internal sealed partial class FileActivityStore(string folder, Lazy<SegmentLog> log, ILogger logger) : IActivityStore
{
    private readonly Lock _gate = new();
    private readonly ActivityBook _book = new();
    private readonly SegmentReader _reader = new(folder, () => log.Value.Committed, logger);

    public async Task RecordAsync(IReadOnlyList<ActivityProgress> progress, CancellationToken cancellationToken)
    {
        var json = JsonSerializer.SerializeToUtf8Bytes(new StoredProgress(progress), StorageJson.Default.StoredProgress);
        try
        {
            await log.Value.AppendAsync(StoredItems.Write(new StoredItem(json, null)), cancellationToken);
        }
        catch (Exception ex) when (StoreErrors.IsWriteFailure(ex))
        {
            throw StoreErrors.NotWritten(ex);
        }
    }

    public async IAsyncEnumerable<ActivityItem> FindAsync(ActivityQuery query, [System.Runtime.CompilerServices.EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var found = await Task.Run(() => Find(query), cancellationToken);
        foreach (var item in found) yield return item;
    }

    public Task<long> CountOpenAsync(string activity, DateTimeOffset? startedBefore, CancellationToken cancellationToken) => Task.Run(
        () =>
        {
            lock (_gate) return Read().Rows.LongCount(row => row.Activity == activity && row is { IsItem: true, CompletedAt: null } && (startedBefore is null || row.StartedAt < startedBefore));
        },
        cancellationToken);

    // A segment goes when nothing was written to it since; what an item passed before is then forgotten with the next start.
    public Task RemoveBeforeAsync(DateTimeOffset time, CancellationToken cancellationToken) => Task.Run(
        () =>
        {
            if (!Directory.Exists(folder)) return;
            lock (_gate)
            {
                Read().RemoveBefore(time);
                foreach (var segment in SegmentFile.List(folder).SkipLast(1).Where(segment => File.GetLastWriteTimeUtc(segment.Path) < time.UtcDateTime)) segment.Delete();
            }
        },
        cancellationToken);

    private List<ActivityItem> Find(ActivityQuery query)
    {
        lock (_gate)
        {
            var found = Read().Rows.Where(row => row.IsItem && IsAsked(row, query)).OrderByDescending(row => row.StartedAt).ThenByDescending(row => row.Id, StringComparer.Ordinal);
            return [.. (query.Limit is { } limit ? found.Take(limit) : found).Select(row => row.ToItem())];
        }
    }

    private static bool IsAsked(ActivityRow row, ActivityQuery query) =>
        row.Activity == query.Activity
        && (query.Key is null || row.Key == query.Key)
        && (query.IsCompleted is null || query.IsCompleted == (row.CompletedAt is not null))
        && (query.From is null || row.StartedAt >= query.From || row.CompletedAt >= query.From)
        && (query.To is null || row.StartedAt < query.To)
        && (query.Before is not { } before || row.StartedAt < before.StartedAt || (row.StartedAt == before.StartedAt && string.CompareOrdinal(row.Id, before.Id) < 0));

    private ActivityBook Read()
    {
        foreach (var record in _reader.ReadNew())
        {
            try
            {
                foreach (var item in StoredItems.Read(record.Payload))
                {
                    foreach (var progress in JsonSerializer.Deserialize(item.Json.Span, StorageJson.Default.StoredProgress)!.Items) _book.Apply(progress);
                }
            }
            catch (Exception ex) when (ex is InvalidDataException or JsonException)
            {
                LogUnreadable(ex, record.Position);
            }
        }

        return _book;
    }

    [LoggerMessage(EventId = 4580, Level = LogLevel.Error, Message = "the record about activities at {Position} cannot be read")]
    private partial void LogUnreadable(Exception exception, SegmentPosition position);
}
