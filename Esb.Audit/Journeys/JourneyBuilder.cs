using Esb.Core.Audit;

namespace Esb.Audit.Journeys;

/// <summary>Makes a journey of facts. Nothing is asked and nothing is guessed that facts do not tell; the same facts always make the same
/// journey.</summary>
public static class JourneyBuilder
{
    /// <summary>The journey of a message.</summary>
    /// <param name="messageId">The message that was asked for.</param>
    /// <param name="facts">The facts of its conversation, in any order; one at least. Of more than <see cref="Journey.MaxFacts"/> those of
    /// the message and then the first of the others are taken, and the journey says so.</param>
    public static Journey Build(Guid messageId, IReadOnlyList<AuditFact> facts)
    {
        ArgumentOutOfRangeException.ThrowIfZero(facts.Count);
        var taken = facts
            .DistinctBy(fact => fact.Id)
            .OrderByDescending(fact => fact.MessageId == messageId)
            .ThenBy(fact => fact.Id)
            .Take(Journey.MaxFacts)
            .ToList();
        var skew = ClockSkew.Measure(taken);
        var times = new EventTimes(taken, skew);
        var messages = taken
            .GroupBy(fact => fact.MessageId)
            .Select(group => (IReadOnlyList<AuditFact>)[.. group.OrderBy(fact => times.Of(fact).Started).ThenBy(fact => fact.Id)])
            .OrderBy(group => times.Of(group[0]).Started)
            .ThenBy(group => group[0].MessageId)
            .ToList();
        var causes = new MessageCauses(messages);
        var stages = StageBuilder.Build(taken, times);
        var tree = new MessageTree(messages, causes, stages);
        return new Journey
        {
            MessageId = messageId,
            Conversations = [.. taken.Select(fact => fact.ConversationId).Distinct().Order()],
            State = tree.Roots.SelectMany(root => root.WithCaused()).Max(message => message.State),
            Started = times.Origin,
            Duration = taken.Max(fact => times.Of(fact).Ended),
            Working = WorkedTime.Of(stages.Values.SelectMany(list => list)),
            Facts = taken.Count,
            Hosts = [.. HostsOf(taken, skew)],
            Roots = tree.Roots,
            Remarks = [.. RemarksOn(facts.Count > taken.Count && taken.Count == Journey.MaxFacts, causes, tree, skew, taken)],
        };
    }

    private static IEnumerable<JourneyHost> HostsOf(IEnumerable<AuditFact> facts, ClockSkew skew) =>
        facts
            .Where(fact => fact.Host is not null)
            .GroupBy(fact => fact.Host!)
            .OrderBy(host => host.Key, StringComparer.Ordinal)
            .Select(host => new JourneyHost(
                host.Key,
                [.. host.Select(fact => fact.Revision).OfType<string>().Distinct()],
                skew.Of(host.Key)
            ));

    private static IEnumerable<string> RemarksOn(
        bool isCut,
        MessageCauses causes,
        MessageTree tree,
        ClockSkew skew,
        IReadOnlyList<AuditFact> facts
    )
    {
        if (isCut)
            yield return FormattableString.Invariant(
                $"Only {Journey.MaxFacts} facts are shown, those of the message and the first of the others; there are more."
            );
        if (causes.Circles > 0)
            yield return $"{causes.Circles} {(causes.Circles == 1 ? "message is" : "messages are")} said to be caused by what they "
                + $"caused; those links are left out.";
        if (tree.Lost > 0)
            yield return $"Nothing is recorded of what {tree.Lost} {(tree.Lost == 1 ? "message was" : "messages were")} made of.";
        if (tree.Lifted > 0)
            yield return $"{tree.Lifted} messages lie deeper than {MessageTree.MaxDepth} and stand beside those that caused them.";
        foreach (
            var host in facts
                .Select(fact => fact.Host)
                .OfType<string>()
                .Distinct()
                .Order(StringComparer.Ordinal)
                .Where(host => skew.Of(host) > TimeSpan.Zero)
        )
            yield return FormattableString.Invariant(
                $"The clock of {host} is at least {skew.Of(host).TotalSeconds:0.000} s behind; times were moved to find the order."
            );
    }
}
