using Esb.Storage.Segments;

namespace Esb.Storage.Files.Parking;

/// <summary>What the records of the parking store come to: the lines, and how many bytes of records still count. Not thread-safe.</summary>
internal sealed class ParkingBook
{
    private readonly Dictionary<(string Endpoint, string Key), ParkingLine> _lines = [];

    public IEnumerable<ParkingLine> Lines => _lines.Values;

    public long LiveBytes { get; private set; }

    public ParkingLine? Find(string endpoint, string key) => _lines.GetValueOrDefault((endpoint, key));

    /// <summary>Takes a record in; one that says what is known already changes nothing but where it stands.</summary>
    public void Apply(ParkingEvent happened, SegmentPosition position, int bytes)
    {
        switch (happened.Kind)
        {
            case ParkingEventKind.Parked:
                Park(happened, position, bytes);
                break;
            case ParkingEventKind.Rescheduled when Find(happened.Endpoint, happened.Line) is { } line && line.Find(happened.Id) is { } entry:
                (entry.Attempt, entry.Failures, line.DueAt) = (happened.Attempt, happened.Failures, happened.DueAt);
                break;
            case ParkingEventKind.Removed when Find(happened.Endpoint, happened.Line) is { } line:
                Remove(line, happened);
                break;
            case ParkingEventKind.Released when Find(happened.Endpoint, happened.Line) is { } line:
                line.DueAt = happened.DueAt;
                break;
            default:
                break; // of a line that has gone
        }
    }

    private void Park(ParkingEvent happened, SegmentPosition position, int bytes)
    {
        var line = Find(happened.Endpoint, happened.Line);
        if (line is null)
        {
            line = new ParkingLine(happened.Endpoint, happened.Line) { Since = happened.At, DueAt = happened.DueAt };
            _lines.Add((happened.Endpoint, happened.Line), line);
        }

        LiveBytes += bytes;
        if (line.Find(happened.Id) is { } written)
        {
            LiveBytes -= written.Bytes;
            (written.Position, written.Bytes) = (position, bytes);
            return;
        }

        line.Add(new ParkedEntry(happened.Id)
        {
            Position = position,
            Bytes = bytes,
            ParkedAt = happened.At,
            Attempt = happened.Attempt,
            Failures = happened.Failures,
        });
    }

    private void Remove(ParkingLine line, ParkingEvent happened)
    {
        if (line.Find(happened.Id) is not { } entry) return;
        var wasFirst = line.Entries.First!.Value == entry;
        LiveBytes -= entry.Bytes;
        line.Remove(entry);
        if (line.Entries.Count == 0) _lines.Remove((line.Endpoint, line.Key));
        else if (wasFirst) line.DueAt = happened.At;
    }
}
