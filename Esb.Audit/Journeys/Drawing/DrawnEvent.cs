using Esb.Core.Audit;

namespace Esb.Audit.Journeys.Drawing;

/// <summary>Something that becomes an arrow.</summary>
/// <param name="Message">Of which message.</param>
/// <param name="Number">Which message of the journey that is, from 1.</param>
/// <param name="Stage">Where it happened.</param>
/// <param name="Event">What happened.</param>
internal sealed record DrawnEvent(JourneyMessage Message, int Number, JourneyStage Stage, JourneyEvent Event)
{
    /// <summary>Where it is drawn: what somebody begins where it begins, what comes of it where it ends.</summary>
    public TimeSpan At => Event.Fact.Kind is AuditKind.Published or AuditKind.Delivered or AuditKind.Failed or AuditKind.Received || (Event.Fact.Kind == AuditKind.Replied && Stage.Kind == JourneyStageKind.Delivery)
        ? Event.Started
        : Event.Ended;
}
