using Esb.Audit.Journeys;

namespace Esb.Host.Management.Messages;

/// <summary>A journey in API responses: the tree of its messages, and its facts.</summary>
internal sealed record JourneyView
{
    /// <summary>The maximum total size of bodies in one response, in bytes.</summary>
    public const long MaxBodyBytes = 16 * 1024 * 1024;

    public required Guid MessageId { get; init; }
    public required IReadOnlyList<Guid> Conversations { get; init; }
    public required JourneyState State { get; init; }
    public required DateTimeOffset Started { get; init; }
    public required double DurationSeconds { get; init; }
    public required double WorkingSeconds { get; init; }
    public required double WaitingSeconds { get; init; }
    public required int Facts { get; init; }
    public required IReadOnlyList<JourneyHostView> Hosts { get; init; }
    public required IReadOnlyList<string> Remarks { get; init; }
    public required IReadOnlyList<JourneyMessageView> Messages { get; init; }

    /// <summary>The facts, oldest first, with bodies up to the maximum size.</summary>
    public required IReadOnlyList<AuditFactView> Items { get; init; }

    public static JourneyView Of(Journey journey) =>
        new()
        {
            MessageId = journey.MessageId,
            Conversations = journey.Conversations,
            State = journey.State,
            Started = journey.Started,
            DurationSeconds = journey.Duration.TotalSeconds,
            WorkingSeconds = journey.Working.TotalSeconds,
            WaitingSeconds = journey.Waiting.TotalSeconds,
            Facts = journey.Facts,
            Hosts = [.. journey.Hosts.Select(host => new JourneyHostView(host.Name, host.Revisions, host.ClockBehind.TotalSeconds))],
            Remarks = journey.Remarks,
            Messages = [.. journey.Roots.Select(JourneyMessageView.Of)],
            Items = [.. journey.AllFacts.Select(AuditFactView.WithBody)],
        };
}

/// <summary>A host of a journey.</summary>
internal sealed record JourneyHostView(string Name, IReadOnlyList<string> Revisions, double ClockBehindSeconds);
