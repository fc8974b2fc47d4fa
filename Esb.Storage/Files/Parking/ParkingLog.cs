using System.Text.Json;
using Esb.Core.Storage;
using Esb.Storage.Segments;
using Microsoft.Extensions.Logging;

namespace Esb.Storage.Files.Parking;

/// <summary>The records of the parking store and what they come to. One caller at a time.</summary>
/// <param name="folder">The folder of the segments.</param>
/// <param name="log">Writes them; null where the store is only read.</param>
/// <param name="logger">Hears of damage.</param>
internal sealed partial class ParkingLog(string folder, Lazy<SegmentLog>? log, ILogger logger)
{
    // So much may lie there that counts no longer, before it is worth writing the rest again.
    private const long WorthCompacting = 1 << 20;

    private readonly SegmentReader _reader = new(folder, log is { } writer ? () => writer.Value.Committed : null, logger);
    private readonly ParkingBook _book = new();
    private long _bytes;

    private SegmentLog Writer => log?.Value ?? throw new InvalidOperationException("This store was opened for reading.");

    /// <summary>The lines as they are now.</summary>
    public ParkingBook Read()
    {
        foreach (var record in _reader.ReadNew())
        {
            try
            {
                _book.Apply(ParkingEvent.Read(record.Payload).Event, record.Position, record.Payload.Length);
                _bytes += record.Payload.Length;
            }
            catch (Exception ex) when (ex is InvalidDataException or JsonException)
            {
                LogUnreadable(ex, record.Position);
            }
        }

        return _book;
    }

    /// <summary>Writes a record, durably, and takes it in.</summary>
    public async Task WriteAsync(ParkingEvent happened, ReadOnlyMemory<byte>? body = null)
    {
        await Writer.AppendAsync(happened.Write(body), CancellationToken.None);
        Read();
    }

    /// <summary>Writes records without a body, durably with one flush, and takes them in.</summary>
    public async Task WriteAllAsync(IReadOnlyCollection<ParkingEvent> happened)
    {
        var writer = Writer;
        await Task.WhenAll(happened.Select(one => writer.AppendAsync(one.Write(), CancellationToken.None)));
        Read();
    }

    /// <summary>A parked message with its body; null where it cannot be read.</summary>
    public ParkedMessage? ReadAt(ParkingLine line, ParkedEntry entry)
    {
        using var file = SegmentHandle.TryOpenForReading(new SegmentFile(folder, entry.Position.Segment));
        if (file is null || SegmentScanner.ReadAt(file, entry.Position.Offset) is not { } payload) return null;
        var (read, body) = ParkingEvent.Read(payload);
        var parked = read.ToParked(body.ToArray());
        return parked with { Message = parked.Message with { Attempt = entry.Attempt }, Failures = entry.Failures, DueAt = entry == line.Entries.First?.Value ? line.DueAt : null };
    }

    /// <summary>Writes what still counts again and removes the rest, once the rest is the larger part; so a store in which nothing is parked stays small.</summary>
    public async Task CompactAsync()
    {
        if (_bytes < WorthCompacting || _book.LiveBytes * 2 > _bytes) return;
        var writer = log!.Value;
        var last = writer.Committed.Segment;
        writer.BeginSegment();
        _bytes = 0;
        foreach (var line in _book.Lines.ToList())
        {
            foreach (var entry in line.Entries.ToList())
            {
                if (ReadAt(line, entry) is not { } parked) continue;
                await WriteAsync(ParkingEvent.Parked(line.Endpoint, parked) with { DueAt = line.DueAt }, parked.Message.Body.Bytes);
            }
        }

        foreach (var segment in SegmentFile.List(folder).Where(segment => segment.Number <= last)) segment.Delete();
        LogCompacted(folder);
    }

    [LoggerMessage(EventId = 4560, Level = LogLevel.Error, Message = "the record about parked messages at {Position} cannot be read")]
    private partial void LogUnreadable(Exception exception, SegmentPosition position);

    [LoggerMessage(EventId = 4561, Level = LogLevel.Debug, Message = "what is no longer parked was removed from {Folder}")]
    private partial void LogCompacted(string folder);
}
