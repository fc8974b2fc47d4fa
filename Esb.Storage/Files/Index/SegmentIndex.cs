using Esb.Storage.Segments;

namespace Esb.Storage.Files.Index;

/// <summary>Knows the facts of one segment. Thread-safe.</summary>
internal interface ISegmentIndex
{
    SegmentFile Segment { get; }

    /// <summary>The newest fact by its id; <see cref="Guid.Empty"/> where there is none.</summary>
    Guid NewestId { get; }

    /// <summary>When the latest fact happened.</summary>
    DateTimeOffset NewestTime { get; }

    /// <summary>The rows of all facts, in the order written.</summary>
    IReadOnlyList<FactRow> All();

    /// <summary>The rows of the facts that have a key.</summary>
    IReadOnlyList<FactRow> Find(ulong key);
}
