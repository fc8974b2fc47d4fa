using Esb.Audit.Journeys;
using Esb.Core.Audit;

namespace Esb.Host.Management.Messages;

/// <summary>A stage of a journey with its events, in API responses.</summary>
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

    public static JourneyStageView Of(JourneyStage stage) =>
        new()
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

/// <summary>An event of a stage.</summary>
internal sealed record JourneyEventView
{
    /// <summary>The id of the fact, which is among the items.</summary>
    public required Guid Fact { get; init; }

    public required AuditKind Kind { get; init; }

    /// <summary>The time that the host recorded.</summary>
    public required DateTimeOffset Time { get; init; }

    /// <summary>The start of the event, relative to the start of the journey.</summary>
    public required double OffsetSeconds { get; init; }

    public required double DurationSeconds { get; init; }
    public required int Attempt { get; init; }

    /// <summary>The number of replays before the event.</summary>
    public required int Replay { get; init; }

    public string? Step { get; init; }
    public string? Name { get; init; }
    public string? Subject { get; init; }
    public string? Code { get; init; }
    public string? Reason { get; init; }
    public string? Host { get; init; }
    public string? Revision { get; init; }

    public static JourneyEventView Of(JourneyEvent happened) =>
        new()
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
