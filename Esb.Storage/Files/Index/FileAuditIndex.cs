using Esb.Storage.Segments;
using Microsoft.Extensions.Logging;

namespace Esb.Storage.Files.Index;

/// <summary>Knows the facts in the segments of a folder, and learns of new ones whenever it is asked; beside a running host too.
/// Thread-safe.</summary>
/// <param name="folder">The folder.</param>
/// <param name="committed">How far the writer has come, where it is in this process; then index files are written too.</param>
/// <param name="logger">Logs damage.</param>
internal sealed partial class FileAuditIndex(string folder, Func<SegmentPosition>? committed, ILogger logger) : IDisposable
{
    private readonly SemaphoreSlim _gate = new(1, 1);
    private readonly SortedDictionary<long, ISegmentIndex> _segments = [];

    /// <summary>The segments as they are now.</summary>
    public async Task<IReadOnlyList<ISegmentIndex>> RefreshAsync(CancellationToken cancellationToken)
    {
        await _gate.WaitAsync(cancellationToken);
        try
        {
            Refresh();
            return [.. _segments.Values];
        }
        finally
        {
            _gate.Release();
        }
    }

    /// <summary>Deletes the segments in which nothing is as young as this.</summary>
    public async Task RemoveBeforeAsync(DateTimeOffset time, CancellationToken cancellationToken)
    {
        await _gate.WaitAsync(cancellationToken);
        try
        {
            Refresh();
            foreach (var index in _segments.Values.SkipLast(1).Where(index => index.NewestTime < time).ToList())
            {
                index.Segment.Delete();
                _segments.Remove(index.Segment.Number);
                LogRemoved(index.Segment, time);
            }
        }
        finally
        {
            _gate.Release();
        }
    }

    public void Dispose() => _gate.Dispose();

    private void Refresh()
    {
        var files = SegmentFile.List(folder);
        var limit = committed?.Invoke(); // after the list: a segment with a successor in it has come to its end by then
        foreach (var gone in _segments.Keys.Except(files.Select(file => file.Number)).ToList())
            _segments.Remove(gone);
        foreach (var file in files)
            Refresh(file, isLast: file == files[^1], limit);
    }

    private void Refresh(SegmentFile file, bool isLast, SegmentPosition? limit)
    {
        var known = _segments.GetValueOrDefault(file.Number);
        if (known is SealedSegmentIndex)
            return;
        if (known is null && !isLast && SealedSegmentIndex.TryOpen(file) is { } found)
        {
            _segments[file.Number] = found;
            return;
        }

        var growing = known as GrowingSegmentIndex ?? new GrowingSegmentIndex(file, new SegmentReader(folder, committed, logger), logger);
        growing.ReadNew(isLast, limit);
        _segments[file.Number] = isLast || committed is null ? growing : Seal(growing);
    }

    private ISegmentIndex Seal(GrowingSegmentIndex index)
    {
        try
        {
            return index.Seal();
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            LogNotSealed(ex, index.Segment);
            return index;
        }
    }

    [LoggerMessage(EventId = 4512, Level = LogLevel.Warning, Message = "the index of {Segment} could not be written and stays in memory")]
    private partial void LogNotSealed(Exception exception, SegmentFile segment);

    [LoggerMessage(EventId = 4511, Level = LogLevel.Information, Message = "{Segment} was removed: all of it is older than {Time}")]
    private partial void LogRemoved(SegmentFile segment, DateTimeOffset time);
}
