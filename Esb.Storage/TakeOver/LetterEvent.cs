using System.Text.Json;
using Esb.Core.Replays;
using Esb.Core.Storage;
using Esb.Storage.Files;

namespace Esb.Storage.TakeOver;

/// <summary>Something that happened to dead letters, as release 0.1 wrote it to a segment: one of these.</summary>
internal sealed record LetterEvent
{
    /// <summary>A letter as it is from now on, whole; its body lies beside it.</summary>
    public EarlierLetter? Letter { get; init; }

    /// <summary>What has become of letters.</summary>
    public LetterChange? Change { get; init; }

    /// <summary>A job as it is from now on.</summary>
    public ReplayJob? Job { get; init; }

    /// <summary>Letters and jobs whose time is over.</summary>
    public IReadOnlyList<Guid>? Removed { get; init; }

    /// <exception cref="JsonException">It is none.</exception>
    public static LetterEvent Read(StoredItem item) =>
        JsonSerializer.Deserialize(item.Json.Span, StorageJson.Default.LetterEvent) is { } found && (found.Letter ?? found.Change ?? found.Job ?? (object?)found.Removed) is not null
            ? found
            : throw new JsonException("The record holds nothing about a dead letter.");
}

/// <summary>What has become of letters, all of them in the same way.</summary>
internal sealed record LetterChange
{
    public required IReadOnlyList<Guid> Letters { get; init; }

    public required DeadLetterState State { get; init; }

    public required DateTimeOffset At { get; init; }

    public string? By { get; init; }

    public string? Note { get; init; }

    public Guid? Job { get; init; }

    /// <summary>Where they go; null for where they came from.</summary>
    public string? To { get; init; }

    /// <summary>The message they go as; null for themselves.</summary>
    public Guid? As { get; init; }

    /// <summary>How often they have been replayed, where all of this is written down once more; null for a change.</summary>
    public int? Replays { get; init; }

    public DeadLetterSummary Apply(DeadLetterSummary letter)
    {
        var changed = letter with { State = State, ChangedAt = At, ChangedBy = By, Note = Note };
        if (Replays is { } replays) return changed with { Job = Job, ReplayedTo = To, ReplayedAs = As, Replays = replays };
        return State switch
        {
            DeadLetterState.Replaying => changed with { Job = Job, ReplayedTo = To ?? letter.Endpoint, ReplayedAs = As ?? letter.MessageId },
            DeadLetterState.Replayed => changed with { Replays = letter.Replays + 1 },
            DeadLetterState.Open => changed with { Job = null, ReplayedTo = null, ReplayedAs = null },
            _ => changed,
        };
    }
}
