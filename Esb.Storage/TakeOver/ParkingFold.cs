using Esb.Core.Storage;
using Esb.Storage.Segments;

namespace Esb.Storage.TakeOver;

/// <summary>What the records of parked messages come to: the lines of the keys, without bodies. Not thread-safe.</summary>
internal sealed class ParkingFold
{
    private readonly Dictionary<(string Endpoint, string Key), Line> _lines = [];

    public IEnumerable<Line> Lines => _lines.Values;

    public void Apply(ParkingEvent happened, SegmentPosition position)
    {
        var line = _lines.GetValueOrDefault((happened.Endpoint, happened.Line));
        if (happened.Kind == ParkingEventKind.Parked)
            Park(line, happened, position);
        else if (line is not null)
            Change(line, happened);
    }

    private void Park(Line? line, ParkingEvent happened, SegmentPosition position)
    {
        if (line is null)
        {
            line = new Line(happened.Endpoint, happened.Line, happened.At) { DueAt = happened.DueAt };
            _lines.Add((happened.Endpoint, happened.Line), line);
        }

        if (line.Find(happened.Id) is { } written)
            written.Position = position; // again, with what is known already
        else
            line.Entries.Add(
                new Entry(happened.Id)
                {
                    Position = position,
                    Attempt = happened.Attempt,
                    Failures = happened.Failures,
                }
            );
    }

    private void Change(Line line, ParkingEvent happened)
    {
        var entry = line.Find(happened.Id);
        switch (happened.Kind)
        {
            case ParkingEventKind.Rescheduled when entry is not null:
                (entry.Attempt, entry.Failures, line.DueAt) = (happened.Attempt, happened.Failures, happened.DueAt);
                break;
            case ParkingEventKind.Removed when entry is not null:
                if (line.Entries[0] == entry)
                    line.DueAt = happened.At;
                line.Entries.Remove(entry);
                if (line.Entries.Count == 0)
                    _lines.Remove((line.Endpoint, line.Key));
                break;
            case ParkingEventKind.Released:
                line.DueAt = happened.DueAt;
                break;
        }
    }

    /// <summary>The line of a key.</summary>
    internal sealed record Line(string Endpoint, string Key, DateTimeOffset Since)
    {
        public DateTimeOffset? DueAt { get; set; }

        public List<Entry> Entries { get; } = [];

        public Entry? Find(Guid id) => Entries.Find(entry => entry.Id == id);
    }

    /// <summary>A parked message, without its body.</summary>
    internal sealed class Entry(Guid id)
    {
        public Guid Id => id;

        public required SegmentPosition Position { get; set; }

        public required int Attempt { get; set; }

        public required IReadOnlyList<FailedAttempt> Failures { get; set; }
    }
}
