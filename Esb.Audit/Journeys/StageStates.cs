using Esb.Core.Audit;

namespace Esb.Audit.Journeys;

/// <summary>How a message stands at a place, and after all of its places.</summary>
internal static class StageStates
{
    /// <summary>The state at a place, by what happened last.</summary>
    public static JourneyState Of(JourneyStageKind kind, IReadOnlyList<JourneyEvent> events)
    {
        var last = events.LastOrDefault(happened => happened.Fact.Kind is not (AuditKind.Recorded or AuditKind.StepEnded or AuditKind.Erased)) ?? events[^1];
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
            AuditKind.Failed => kind == JourneyStageKind.Delivery ? JourneyState.UnderWay : JourneyState.Failed, // a delivery is tried again, or given up
            _ => throw new InvalidOperationException($"A fact of the kind {last.Fact.Kind} says nothing about a state."),
        };
    }

    /// <summary>The state of a message: that of the place that wants most attention. A publication counts only until somebody has taken it.</summary>
    public static JourneyState Of(IReadOnlyList<JourneyStage> stages)
    {
        var isTaken = stages.Any(stage => stage.Kind == JourneyStageKind.Delivery);
        return stages.Where(stage => !(isTaken && stage.State == JourneyState.Published)).Max(stage => stage.State);
    }

    // That it came once more does not undo what was done the first time.
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
