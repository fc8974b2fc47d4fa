using Esb.Audit.Journeys;

namespace Esb.Host.Management.Messages;

/// <summary>A message of a journey in API responses.</summary>
internal sealed record JourneyMessageView
{
    public required Guid Id { get; init; }
    public Guid? CausedBy { get; init; }
    public required JourneyCause Cause { get; init; }
    public required JourneyState State { get; init; }
    public string? Subject { get; init; }
    public string? Party { get; init; }
    public string? TraceId { get; init; }
    public required DateTimeOffset Started { get; init; }
    public required double DurationSeconds { get; init; }
    public required double WorkingSeconds { get; init; }
    public required double WaitingSeconds { get; init; }
    public required IReadOnlyDictionary<string, string> Fields { get; init; }
    public required IReadOnlyList<JourneyStageView> Stages { get; init; }

    /// <summary>The messages derived from it.</summary>
    public required IReadOnlyList<JourneyMessageView> Caused { get; init; }

    public static JourneyMessageView Of(JourneyMessage message) =>
        new()
        {
            Id = message.Id,
            CausedBy = message.CausedBy,
            Cause = message.Cause,
            State = message.State,
            Subject = message.Subject,
            Party = message.Party,
            TraceId = message.TraceId,
            Started = message.Started,
            DurationSeconds = message.Duration.TotalSeconds,
            WorkingSeconds = message.Working.TotalSeconds,
            WaitingSeconds = message.Waiting.TotalSeconds,
            Fields = message.Fields,
            Stages = [.. message.Stages.Select(JourneyStageView.Of)],
            Caused = [.. message.Caused.Select(Of)],
        };
}
