using Esb.Core.Audit;

namespace Esb.Audit.Journeys;

/// <summary>Identifies the place that a fact belongs to.</summary>
internal readonly record struct StageKey(Guid Message, JourneyStageKind Kind, string? Endpoint, string? Process, string? Part)
{
    /// <summary>The endpoints through which messages of these facts arrived: some kinds of facts are recorded on both sides of a topic, and
    /// a process can run on either side.</summary>
    public static HashSet<string?> EntriesOf(IReadOnlyList<AuditFact> facts)
    {
        var entries = facts
            .Where(fact => IsOfEntry(fact.Kind) || fact.Kind == AuditKind.Published)
            .Select(fact => fact.Endpoint)
            .ToHashSet();
        var arrivals = facts.Where(fact => IsArrival(fact.Kind)).Select(fact => fact.Endpoint).ToHashSet();
        entries.ExceptWith(facts.Where(fact => IsOfDelivery(fact) && !arrivals.Contains(fact.Endpoint)).Select(fact => fact.Endpoint));
        return entries;
    }

    public static StageKey Of(AuditFact fact, HashSet<string?> entries) =>
        KindOf(fact, entries) switch
        {
            JourneyStageKind.Entry => new StageKey(fact.MessageId, JourneyStageKind.Entry, fact.Endpoint, null, null),
            JourneyStageKind.Publication => new StageKey(
                fact.MessageId,
                JourneyStageKind.Publication,
                fact.Endpoint,
                fact.Process,
                fact.Subject
            ),
            JourneyStageKind.Call => new StageKey(fact.MessageId, JourneyStageKind.Call, fact.Endpoint, fact.Process, fact.Step),
            var kind => new StageKey(fact.MessageId, kind, fact.Endpoint, null, null),
        };

    private static JourneyStageKind KindOf(AuditFact fact, HashSet<string?> entries) =>
        fact.Kind switch
        {
            _ when IsOfEntry(fact.Kind) && entries.Contains(fact.Endpoint) => JourneyStageKind.Entry,
            AuditKind.Published => JourneyStageKind.Publication,
            _ when fact.Endpoint is null || entries.Contains(fact.Endpoint) => fact is { Kind: AuditKind.Replied, Subject: not null }
                ? JourneyStageKind.Publication
                : JourneyStageKind.Entry,
            _ when IsOfEntry(fact.Kind) => JourneyStageKind.Delivery,
            _ when fact.Process is not null => JourneyStageKind.Call,
            AuditKind.Duplicate when fact.Attempt == 0 => JourneyStageKind.Entry,
            _ => JourneyStageKind.Delivery,
        };

    private static bool IsArrival(AuditKind kind) =>
        kind is AuditKind.Received or AuditKind.Refused or AuditKind.Aborted or AuditKind.Completed;

    // A fact of a call names the calling process.
    private static bool IsOfDelivery(AuditFact fact) =>
        fact
            is {
                Process: null,
                Kind: AuditKind.Delivered
                    or AuditKind.Failed
                    or AuditKind.DeadLettered
                    or AuditKind.Parked
                    or AuditKind.Filtered
                    or AuditKind.Expired
                    or AuditKind.Discarded
                    or AuditKind.Replied
                    or AuditKind.ReplyAbandoned
            };

    private static bool IsOfEntry(AuditKind kind) =>
        kind
            is AuditKind.Received
                or AuditKind.Refused
                or AuditKind.Aborted
                or AuditKind.Recorded
                or AuditKind.Completed
                or AuditKind.StepEnded;
}
