using Esb.Core.Audit;
using Esb.Core.Messages;
using Esb.Core.Replays;

namespace Esb.Audit.Journeys;

/// <summary>What the messages of a journey were made of: what their facts say; otherwise what ids, names and times tell.</summary>
internal sealed class MessageCauses
{
    private readonly Dictionary<Guid, (Guid? By, JourneyCause Cause)> _causes = [];

    /// <param name="messages">The facts of each message, in the order of time; the earliest message first.</param>
    public MessageCauses(IReadOnlyList<IReadOnlyList<AuditFact>> messages)
    {
        var known = messages.Select(facts => facts[0].MessageId).ToHashSet();
        var replies = known.ToDictionary(id => MessageIds.Derive(id, "reply"), id => id);
        var received = messages
            .SelectMany(facts => facts)
            .Where(fact => fact.Kind == AuditKind.Received)
            .ToLookup(fact => (fact.ConversationId, fact.Endpoint, fact.Process));
        foreach (var facts in messages)
        {
            var id = facts[0].MessageId;
            _causes[id] =
                Recorded(id, facts) is { } by ? (by, known.Contains(by) ? JourneyCause.Recorded : JourneyCause.Unknown)
                : Derived(facts) is { } derived ? (derived, JourneyCause.Derived)
                : (null, JourneyCause.None);
        }

        Circles = CutCircles(messages.Select(facts => facts[0].MessageId));

        Guid? Derived(IReadOnlyList<AuditFact> facts)
        {
            var first = facts[0];
            if (first.MessageId == first.ConversationId || facts.Any(fact => fact.Kind == AuditKind.Received))
                return null;
            if (replies.TryGetValue(first.MessageId, out var request))
                return request;
            var entered = facts
                .Where(fact => fact.Kind == AuditKind.Published)
                .SelectMany(fact => received[(fact.ConversationId, fact.Endpoint, fact.Process)].Where(entry => entry.Time <= fact.Time))
                .MaxBy(entry => entry.Id);
            return entered?.MessageId ?? (known.Contains(first.ConversationId) ? first.ConversationId : null);
        }
    }

    /// <summary>How many links were left out because they led back to where they came from.</summary>
    public int Circles { get; }

    /// <summary>What a message was made of, and how that is known.</summary>
    public (Guid? By, JourneyCause Cause) Of(Guid message) => _causes[message];

    /// <summary>The message below which another is shown; null where it stands for itself.</summary>
    public Guid? ParentOf(Guid message) => _causes[message] is { By: { } by, Cause: not JourneyCause.Unknown } ? by : null;

    private static Guid? Recorded(Guid id, IReadOnlyList<AuditFact> facts)
    {
        if (facts.Select(fact => fact.CausedBy).FirstOrDefault(cause => cause is { } by && by != id) is { } recorded)
            return recorded;
        var edited = facts.Select(fact => fact.Fields.GetValueOrDefault(ReplayEdit.ReplayOf)).FirstOrDefault(of => of is not null);
        return Guid.TryParse(edited, out var original) && original != id ? original : null;
    }

    // Each link is followed once: a walk ends where an earlier one has been.
    private int CutCircles(IEnumerable<Guid> messages)
    {
        var circles = 0;
        var seen = new HashSet<Guid>();
        foreach (var start in messages)
        {
            var walk = new HashSet<Guid>();
            Guid? at = start;
            while (at is { } message && !seen.Contains(message) && walk.Add(message))
                at = ParentOf(message);
            if (at is { } again && walk.Contains(again))
            {
                _causes[again] = (_causes[again].By, JourneyCause.Unknown);
                circles++;
            }

            seen.UnionWith(walk);
        }

        return circles;
    }
}
