using System.Text.Json;
using Esb.Storage.Segments;
using Microsoft.Extensions.Logging;

namespace Esb.Storage.Files.DeadLetters;

/// <summary>The events of a folder of dead letters: decides, writes, and reads what came of it, one caller at a time. Thread-safe.</summary>
/// <param name="folder">The folder of the segments.</param>
/// <param name="log">Writes them; null where the store is only read.</param>
/// <param name="logger">Hears of damage.</param>
internal sealed partial class LetterLog(string folder, Lazy<SegmentLog>? log, ILogger logger) : IDisposable
{
    private const long NeverCompacted = -1;

    private readonly SemaphoreSlim _gate = new(1, 1);
    private readonly SegmentReader _reader = new(folder, log is { } writer ? () => writer.Value.Committed : null, logger);
    private readonly LetterBook _book = new();
    private long _compacted = NeverCompacted;

    /// <summary>Looks at what is known now.</summary>
    public async Task<T> ReadAsync<T>(Func<LetterBook, T> look, CancellationToken cancellationToken)
    {
        await _gate.WaitAsync(cancellationToken);
        try
        {
            Refresh();
            return look(_book);
        }
        finally
        {
            _gate.Release();
        }
    }

    /// <summary>Decides what happens, from what is known now, and writes it down, all of it or nothing.</summary>
    /// <exception cref="Core.Errors.EsbException"><c>ESB-STORE-WRITE</c>.</exception>
    public async Task<T> WriteAsync<T>(Func<LetterBook, (T Result, IReadOnlyList<StoredItem> Items)> decide, CancellationToken cancellationToken)
    {
        if (log is null) throw new InvalidOperationException("This store was opened for reading.");

        await _gate.WaitAsync(cancellationToken);
        try
        {
            Refresh();
            var (result, items) = decide(_book);
            if (items.Count == 0) return result;
            await AppendAsync(items, cancellationToken);
            Refresh();
            await CompactAsync(log.Value.Committed.Segment);
            return result;
        }
        catch (Exception ex) when (StoreErrors.IsWriteFailure(ex))
        {
            throw StoreErrors.NotWritten(ex);
        }
        finally
        {
            _gate.Release();
        }
    }

    /// <summary>Removes letters and jobs, and then the segments of which little is left.</summary>
    /// <returns>How many were removed.</returns>
    /// <exception cref="Core.Errors.EsbException"><c>ESB-STORE-WRITE</c>.</exception>
    public Task<int> RemoveAsync(Func<LetterBook, IReadOnlyList<Guid>> choose, CancellationToken cancellationToken) =>
        WriteAsync<int>(
            book =>
            {
                var removed = choose(book);
                if (removed.Count == 0) return (0, []);
                _compacted = NeverCompacted;
                return (removed.Count, [new LetterEvent { Removed = removed }.ToItem()]);
            },
            cancellationToken);

    /// <summary>A letter and its body, as it was written; null where it has been moved meanwhile.</summary>
    public StoredItem? ReadAt(SegmentPosition position, Guid letter)
    {
        using var file = SegmentHandle.TryOpenForReading(new SegmentFile(folder, position.Segment));
        if (file is null || SegmentScanner.ReadAt(file, position.Offset) is not { } payload) return null;
        foreach (var item in StoredItems.Read(payload))
        {
            if (LetterEvent.Read(item).Letter is { } stored && Core.Storage.DeadLetter.IdOf(stored.Id, stored.Endpoint) == letter) return item;
        }

        return null;
    }

    public void Dispose() => _gate.Dispose();

    private Task AppendAsync(IReadOnlyList<StoredItem> items, CancellationToken cancellationToken) =>
        log!.Value.AppendAsync(StoredItems.Write([.. items]), cancellationToken);

    private void Refresh()
    {
        foreach (var record in _reader.ReadNew())
        {
            try
            {
                var items = StoredItems.Read(record.Payload);
                foreach (var item in items)
                    _book.Apply(LetterEvent.Read(item), record.Position, item.Bytes.GetValueOrDefault().Length, item.Json.Length + item.Bytes.GetValueOrDefault().Length);
            }
            catch (Exception ex) when (ex is InvalidDataException or JsonException)
            {
                LogUnreadable(ex, record.Position);
            }
        }
    }

    // Whenever a segment has come to its end, or something was removed: those of which little still counts are written again, and go.
    private async Task CompactAsync(long current)
    {
        if (current == _compacted) return;
        foreach (var segment in LetterCompaction.Worthwhile(_book, folder, current))
        {
            var oldest = SegmentFile.List(folder).Where(other => other.Number != segment.Number).Min(other => other.Number);
            foreach (var items in LetterCompaction.Keep(_book, segment.Number, oldest, ReadAt))
            {
                await AppendAsync(items, CancellationToken.None);
                Refresh();
            }

            segment.Delete();
            LogCompacted(segment);
        }

        _compacted = current;
    }

    [LoggerMessage(EventId = 4513, Level = LogLevel.Error, Message = "the record about dead letters at {Position} cannot be read")]
    private partial void LogUnreadable(Exception exception, SegmentPosition position);

    [LoggerMessage(EventId = 4515, Level = LogLevel.Information, Message = "{Segment} of the dead letters was removed; what still counted of it stands in a later one")]
    private partial void LogCompacted(SegmentFile segment);
}
