using Esb.Core.Storage;
using Esb.Storage.Segments;

namespace Esb.Storage.Files.Parking;

/// <summary>A parked message, without its body.</summary>
internal sealed class ParkedEntry(Guid id)
{
    public Guid Id => id;

    public required SegmentPosition Position { get; set; }

    public required int Bytes { get; set; }

    public required DateTimeOffset ParkedAt { get; init; }

    public int Attempt { get; set; }

    public IReadOnlyList<FailedAttempt> Failures { get; set; } = [];
}

/// <summary>The line of a key.</summary>
internal sealed class ParkingLine(string endpoint, string key)
{
    private readonly Dictionary<Guid, LinkedListNode<ParkedEntry>> _nodes = [];

    public string Endpoint => endpoint;

    public string Key => key;

    /// <summary>In order.</summary>
    public LinkedList<ParkedEntry> Entries { get; } = [];

    public DateTimeOffset Since { get; init; }

    public DateTimeOffset? DueAt { get; set; }

    /// <summary>Until when a release is under way.</summary>
    public DateTimeOffset LeasedUntil { get; set; }

    public ParkedEntry? Find(Guid id) => _nodes.GetValueOrDefault(id)?.Value;

    public IEnumerable<ParkedEntry> FromTheEnd()
    {
        for (var node = Entries.Last; node is not null; node = node.Previous) yield return node.Value;
    }

    public void Add(ParkedEntry entry) => _nodes.Add(entry.Id, Entries.AddLast(entry));

    public void Remove(ParkedEntry entry)
    {
        if (_nodes.Remove(entry.Id, out var node)) Entries.Remove(node);
    }

    public ParkedKey Describe() => new(endpoint, key, Entries.Count, Since, DueAt, Entries.First?.Value.Failures.LastOrDefault());
}
