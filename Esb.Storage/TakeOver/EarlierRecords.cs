using System.Text.Json;
using Esb.Storage.Segments;
using Microsoft.Extensions.Logging;

namespace Esb.Storage.TakeOver;

/// <summary>
/// The records of a folder of segments that release 0.1 wrote. Damaged records are reported and left out, as by that release.
/// </summary>
internal sealed partial class EarlierRecords(string folder, ILogger logger)
{
    private readonly SegmentReader _reader = new(folder, committed: null, logger);

    /// <summary>Takes in each record, in the order written.</summary>
    public void Read(Action<PlacedRecord> take)
    {
        foreach (var record in _reader.ReadNew())
            TryTake(record, take);
    }

    /// <summary>The records that can be read.</summary>
    public IEnumerable<T> Read<T>(Func<ReadOnlyMemory<byte>, T> read)
    {
        foreach (var record in _reader.ReadNew())
        {
            var (isRead, value) = (false, default(T));
            TryTake(record, found => (isRead, value) = (true, read(found.Payload)));
            if (isRead)
                yield return value!;
        }
    }

    /// <summary>One record; null where it is damaged.</summary>
    public ReadOnlyMemory<byte>? ReadAt(SegmentPosition position)
    {
        using var file = SegmentHandle.TryOpenForReading(new SegmentFile(folder, position.Segment));
        return file is null ? null : SegmentScanner.ReadAt(file, position.Offset);
    }

    private void TryTake(PlacedRecord record, Action<PlacedRecord> take)
    {
        try
        {
            take(record);
        }
        catch (Exception ex) when (ex is InvalidDataException or JsonException)
        {
            LogUnreadable(ex, record.Position, folder);
        }
    }

    [LoggerMessage(EventId = 4590, Level = LogLevel.Error, Message = "the record at {Position} of {Folder} cannot be read and is left out")]
    private partial void LogUnreadable(Exception exception, SegmentPosition position, string folder);
}
