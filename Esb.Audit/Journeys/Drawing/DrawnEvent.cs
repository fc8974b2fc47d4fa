using Esb.Core.Audit;

namespace Esb.Audit.Journeys.Drawing;

/// <summary>An event that is drawn as an arrow.</summary>
/// <param name="Message">The message.</param>
/// <param name="Number">The number of the message within the journey, from 1.</param>
/// <param name="Stage">The place where the event happened.</param>
/// <param name="Event">The event.</param>
internal sealed record DrawnEvent(JourneyMessage Message, int Number, JourneyStage Stage, JourneyEvent Event)
{
    /// <summary>The time at which the arrow is drawn: the start of an action, the end of a result.</summary>
    public TimeSpan At =>
        Event.Fact.Kind is AuditKind.Published or AuditKind.Delivered or AuditKind.Failed or AuditKind.Received
        || (Event.Fact.Kind == AuditKind.Replied && Stage.Kind == JourneyStageKind.Delivery)
            ? Event.Started
            : Event.Ended;
}
