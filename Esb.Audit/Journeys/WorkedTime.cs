using Esb.Core.Audit;

namespace Esb.Audit.Journeys;

/// <summary>Adds up times of work that may overlap.</summary>
internal static class WorkedTime
{
    /// <summary>How long a message was worked on at one of these places at least: while it was taken in, and while each attempt
    /// lasted.</summary>
    public static TimeSpan Of(IEnumerable<JourneyStage> stages)
    {
        var (total, reached) = (TimeSpan.Zero, TimeSpan.MinValue);
        foreach (var (start, end) in stages.SelectMany(SpansOf).OrderBy(span => span.Start))
        {
            var from = start > reached ? start : reached;
            if (end <= from)
                continue;
            total += end - from;
            reached = end;
        }

        return total;
    }

    private static IEnumerable<(TimeSpan Start, TimeSpan End)> SpansOf(JourneyStage stage) =>
        stage.Kind == JourneyStageKind.Entry ? StaysOf(stage.Events) : stage.Events.Select(happened => (happened.Started, happened.Ended));

    // One that comes in is worked on until the last that its entry says of it; one that comes again as a duplicate is not.
    private static IEnumerable<(TimeSpan Start, TimeSpan End)> StaysOf(IReadOnlyList<JourneyEvent> events)
    {
        var start = events[0].Started;
        foreach (var happened in events.Where(happened => happened.Fact.Kind != AuditKind.Duplicate))
        {
            if (happened.Fact.Kind == AuditKind.Received)
                start = happened.Started;
            yield return (start, happened.Ended);
        }
    }
}
