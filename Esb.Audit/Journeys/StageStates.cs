using Esb.Core.Audit;

namespace Esb.Audit.Journeys;

/// <summary>Computes the state of a message at a place, and over all its places.</summary>
internal static class StageStates
{
    /// <summary>The state at a place, from its last event.</summary>
    public static JourneyState Of(JourneyStageKind kind, IReadOnlyList<JourneyEvent> events)
    {
        var last =
            events.LastOrDefault(happened => happened.Fact.Kind is not (AuditKind.Recorded or AuditKind.StepEnded or AuditKind.Erased))
            ?? events[^1];
        return last.Fact.Kind switch
        {
            AuditKind.Received or AuditKind.Recorded or AuditKind.StepEnded or AuditKind.Erased => JourneyState.Received,
            AuditKind.Filtered => JourneyState.Filtered,
            AuditKind.Completed => JourneyState.Completed,
            AuditKind.Duplicate => AfterDuplicate(kind, events),
            AuditKind.Delivered => JourneyState.Delivered,
            AuditKind.Replied => last.Fact.Code is null ? JourneyState.Replied : JourneyState.Failed,
            AuditKind.ReplyAbandoned => JourneyState.Abandoned,
            AuditKind.Published => JourneyState.Published,
            AuditKind.Expired => JourneyState.Expired,
            AuditKind.Discarded => JourneyState.Discarded,
            AuditKind.Refused => JourneyState.Refused,
            AuditKind.Aborted => JourneyState.Aborted,
            AuditKind.Replayed => JourneyState.UnderWay,
            AuditKind.Parked => JourneyState.Parked,
            AuditKind.DeadLettered => JourneyState.DeadLettered,
            // A failed delivery is retried or given up.
            AuditKind.Failed => kind == JourneyStageKind.Delivery ? JourneyState.UnderWay : JourneyState.Failed,
            _ => throw new InvalidOperationException($"A fact of the kind {last.Fact.Kind} says nothing about a state."),
        };
    }

    /// <summary>The state of the place that needs most attention. A publication counts only until an endpoint has taken the
    /// message.</summary>
    public static JourneyState Of(IReadOnlyList<JourneyStage> stages)
    {
        var isTaken = stages.Any(stage => stage.Kind == JourneyStageKind.Delivery);
        return stages.Where(stage => !(isTaken && stage.State == JourneyState.Published)).Max(stage => stage.State);
    }

    // A duplicate does not change the outcome of the first arrival.
    private static JourneyState AfterDuplicate(JourneyStageKind kind, IReadOnlyList<JourneyEvent> events)
    {
        var done = events.LastOrDefault(happened => happened.Fact.Kind is AuditKind.Delivered or AuditKind.Replied or AuditKind.Completed);
        return done?.Fact.Kind switch
        {
            null => events.Any(happened => happened.Fact.Kind == AuditKind.Received) ? JourneyState.Received : JourneyState.Duplicate,
            AuditKind.Completed => JourneyState.Completed,
            AuditKind.Replied when kind == JourneyStageKind.Entry => JourneyState.Replied,
            _ => JourneyState.Delivered,
        };
    }
}
