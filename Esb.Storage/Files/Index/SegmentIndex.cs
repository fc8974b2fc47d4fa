using Esb.Storage.Segments;

namespace Esb.Storage.Files.Index;

/// <summary>The index of the facts of one segment. Thread-safe.</summary>
internal interface ISegmentIndex
{
    SegmentFile Segment { get; }

    /// <summary>The id of the newest fact; <see cref="Guid.Empty"/> if there are no facts.</summary>
    Guid NewestId { get; }

    /// <summary>The time of the latest fact.</summary>
    DateTimeOffset NewestTime { get; }

    /// <summary>The rows of all facts, in the order written.</summary>
    IReadOnlyList<FactRow> All();

    /// <summary>The rows of the facts that have a key.</summary>
    IReadOnlyList<FactRow> Find(ulong key);
}
