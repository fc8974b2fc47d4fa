using Esb.Core.Audit;

namespace Esb.Audit.Journeys;

/// <summary>Which place a fact belongs to.</summary>
internal readonly record struct StageKey(Guid Message, JourneyStageKind Kind, string? Endpoint, string? Process, string? Part)
{
    /// <summary>The endpoints by which messages of these facts came in: some kinds of facts are recorded on both sides of a topic.</summary>
    public static HashSet<string?> EntriesOf(IEnumerable<AuditFact> facts) =>
        [.. facts.Where(fact => IsOfEntry(fact.Kind) || fact.Kind == AuditKind.Published).Select(fact => fact.Endpoint)];

    public static StageKey Of(AuditFact fact, HashSet<string?> entries) => KindOf(fact, entries) switch
    {
        JourneyStageKind.Entry => new StageKey(fact.MessageId, JourneyStageKind.Entry, fact.Endpoint, null, null),
        JourneyStageKind.Publication => new StageKey(fact.MessageId, JourneyStageKind.Publication, fact.Endpoint, fact.Process, fact.Subject),
        JourneyStageKind.Call => new StageKey(fact.MessageId, JourneyStageKind.Call, fact.Endpoint, fact.Process, fact.Step),
        var kind => new StageKey(fact.MessageId, kind, fact.Endpoint, null, null),
    };

    private static JourneyStageKind KindOf(AuditFact fact, HashSet<string?> entries) => fact.Kind switch
    {
        _ when IsOfEntry(fact.Kind) => JourneyStageKind.Entry,
        AuditKind.Published => JourneyStageKind.Publication,
        _ when fact.Endpoint is null || entries.Contains(fact.Endpoint) => fact is { Kind: AuditKind.Replied, Subject: not null } ? JourneyStageKind.Publication : JourneyStageKind.Entry,
        _ when fact.Process is not null => JourneyStageKind.Call,
        AuditKind.Duplicate when fact.Attempt == 0 => JourneyStageKind.Entry,
        _ => JourneyStageKind.Delivery,
    };

    private static bool IsOfEntry(AuditKind kind) => kind is AuditKind.Received or AuditKind.Refused or AuditKind.Aborted or AuditKind.Recorded or AuditKind.Completed or AuditKind.StepEnded;
}
