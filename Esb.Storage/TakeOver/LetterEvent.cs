using System.Text.Json;
using Esb.Core.Replays;
using Esb.Core.Storage;
using Esb.Storage.Files;

namespace Esb.Storage.TakeOver;

/// <summary>A change of dead letters, as release 0.1 wrote it to a segment: one of these.</summary>
internal sealed record LetterEvent
{
    /// <summary>A letter as it is from now on, whole; its body lies beside it.</summary>
    public EarlierLetter? Letter { get; init; }

    /// <summary>A change of the state of letters.</summary>
    public LetterChange? Change { get; init; }

    /// <summary>A job as it is from now on.</summary>
    public ReplayJob? Job { get; init; }

    /// <summary>Letters and jobs whose retention is over.</summary>
    public IReadOnlyList<Guid>? Removed { get; init; }

    /// <exception cref="JsonException">The record is not such an event.</exception>
    public static LetterEvent Read(StoredItem item) =>
        JsonSerializer.Deserialize(item.Json.Span, StorageJson.Default.LetterEvent) is { } found
        && (found.Letter ?? found.Change ?? found.Job ?? (object?)found.Removed) is not null
            ? found
            : throw new JsonException("The record holds nothing about a dead letter.");
}

/// <summary>A change of the state of letters, the same for all of them.</summary>
internal sealed record LetterChange
{
    public required IReadOnlyList<Guid> Letters { get; init; }

    public required DeadLetterState State { get; init; }

    public required DateTimeOffset At { get; init; }

    public string? By { get; init; }

    public string? Note { get; init; }

    public Guid? Job { get; init; }

    /// <summary>The target endpoint; null for the original one.</summary>
    public string? To { get; init; }

    /// <summary>The id of the message that is sent; null for the original one.</summary>
    public Guid? As { get; init; }

    /// <summary>The number of replays, if the whole state is written once more; null for a change.</summary>
    public int? Replays { get; init; }

    public DeadLetterSummary Apply(DeadLetterSummary letter)
    {
        var changed = letter with { State = State, ChangedAt = At, ChangedBy = By, Note = Note };
        if (Replays is { } replays)
            return changed with { Job = Job, ReplayedTo = To, ReplayedAs = As, Replays = replays };
        return State switch
        {
            DeadLetterState.Replaying => changed with
            {
                Job = Job,
                ReplayedTo = To ?? letter.Endpoint,
                ReplayedAs = As ?? letter.MessageId,
            },
            DeadLetterState.Replayed => changed with { Replays = letter.Replays + 1 },
            DeadLetterState.Open => changed with { Job = null, ReplayedTo = null, ReplayedAs = null },
            _ => changed,
        };
    }
}
