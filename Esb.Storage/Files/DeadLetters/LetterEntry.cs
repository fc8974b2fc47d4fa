using Esb.Core.Replays;
using Esb.Core.Storage;
using Esb.Storage.Segments;

namespace Esb.Storage.Files.DeadLetters;

/// <summary>What is in memory of a letter.</summary>
internal sealed class LetterEntry
{
    public DeadLetterSummary Summary { get; set; } = null!;

    /// <summary>What its reason has in common with others.</summary>
    public string Cause { get; set; } = "";

    /// <summary>Whether the summary shows all of the reason.</summary>
    public bool IsReasonWhole { get; set; }

    /// <summary>Where the letter stands.</summary>
    public Placed Written { get; set; }

    /// <summary>The first and the last segment that tell what has become of it since; null where none does.</summary>
    public (long First, long Last)? Changes { get; set; }
}

/// <summary>What is in memory of a job.</summary>
internal sealed class JobEntry
{
    public ReplayJob? Job { get; set; }

    /// <summary>Where it stands.</summary>
    public Placed Written { get; set; }

    /// <summary>Its letters that were not sent yet, by their numbers.</summary>
    public SortedDictionary<long, LetterEntry> Pending { get; } = [];
}

/// <summary>A place in a folder, and the bytes it takes there.</summary>
internal readonly record struct Placed(SegmentPosition Position, long Bytes);
