using Esb.Audit.Journeys;
using Esb.Core.Audit;

namespace Esb.Host.Management.Messages;

/// <summary>A place of a journey, and what happened there, as the API shows it.</summary>
internal sealed record JourneyStageView
{
    public required JourneyStageKind Kind { get; init; }
    public string? Endpoint { get; init; }
    public string? Process { get; init; }
    public required JourneyState State { get; init; }
    public required DateTimeOffset Started { get; init; }
    public required double DurationSeconds { get; init; }
    public string? ReplayedAs { get; init; }
    public required IReadOnlyList<JourneyEventView> Events { get; init; }

    public static JourneyStageView Of(JourneyStage stage) => new()
    {
        Kind = stage.Kind,
        Endpoint = stage.Endpoint,
        Process = stage.Process,
        State = stage.State,
        Started = stage.Started,
        DurationSeconds = stage.Duration.TotalSeconds,
        ReplayedAs = stage.ReplayedAs,
        Events = [.. stage.Events.Select(JourneyEventView.Of)],
    };
}

/// <summary>One thing that happened.</summary>
internal sealed record JourneyEventView
{
    /// <summary>The fact, which stands among the items.</summary>
    public required Guid Fact { get; init; }

    public required AuditKind Kind { get; init; }

    /// <summary>When, as its host recorded it.</summary>
    public required DateTimeOffset Time { get; init; }

    /// <summary>When it began, since the journey did.</summary>
    public required double OffsetSeconds { get; init; }

    public required double DurationSeconds { get; init; }
    public required int Attempt { get; init; }

    /// <summary>After how many replays.</summary>
    public required int Replay { get; init; }

    public string? Step { get; init; }
    public string? Name { get; init; }
    public string? Subject { get; init; }
    public string? Code { get; init; }
    public string? Reason { get; init; }
    public string? Host { get; init; }
    public string? Revision { get; init; }

    public static JourneyEventView Of(JourneyEvent happened) => new()
    {
        Fact = happened.Fact.Id,
        Kind = happened.Fact.Kind,
        Time = happened.Fact.Time,
        OffsetSeconds = happened.Started.TotalSeconds,
        DurationSeconds = (happened.Ended - happened.Started).TotalSeconds,
        Attempt = happened.Fact.Attempt,
        Replay = happened.Replay,
        Step = happened.Fact.Step,
        Name = happened.Fact.Name,
        Subject = happened.Fact.Subject,
        Code = happened.Fact.Code,
        Reason = happened.Fact.Reason,
        Host = happened.Fact.Host,
        Revision = happened.Fact.Revision,
    };
}
