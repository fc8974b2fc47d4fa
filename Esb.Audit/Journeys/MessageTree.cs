using Esb.Core.Audit;

namespace Esb.Audit.Journeys;

/// <summary>Arranges messages below their causes.</summary>
internal sealed class MessageTree
{
    /// <summary>The maximum nesting depth. Deeper messages are placed beside their cause, so that any JSON reader can parse the
    /// result.</summary>
    public const int MaxDepth = 16;

    private readonly Dictionary<Guid, IReadOnlyList<AuditFact>> _messages;
    private readonly ILookup<Guid, Guid> _caused;
    private readonly MessageCauses _causes;
    private readonly IReadOnlyDictionary<Guid, IReadOnlyList<JourneyStage>> _stages;

    /// <param name="messages">The facts of each message, the earliest message first.</param>
    /// <param name="causes">The causes of the messages.</param>
    /// <param name="stages">The places of each message.</param>
    public MessageTree(
        IReadOnlyList<IReadOnlyList<AuditFact>> messages,
        MessageCauses causes,
        IReadOnlyDictionary<Guid, IReadOnlyList<JourneyStage>> stages
    )
    {
        _messages = messages.ToDictionary(facts => facts[0].MessageId);
        _causes = causes;
        _stages = stages;
        var ids = messages.Select(facts => facts[0].MessageId).ToList();
        _caused = ids.Where(id => causes.ParentOf(id) is not null).ToLookup(id => causes.ParentOf(id)!.Value);
        Roots = [.. ids.Where(id => causes.ParentOf(id) is null).Select(id => Make(id, 1))];
        Lost = ids.Count(id => causes.Of(id).Cause == JourneyCause.Unknown) - causes.Circles;
    }

    /// <summary>The messages without a known cause.</summary>
    public IReadOnlyList<JourneyMessage> Roots { get; }

    /// <summary>The number of messages whose cause has no recorded facts.</summary>
    public int Lost { get; }

    /// <summary>The number of messages nested too deeply.</summary>
    public int Lifted { get; private set; }

    private JourneyMessage Make(Guid id, int depth) =>
        MessageOf(
            id,
            depth < MaxDepth - 1
                ? [.. _caused[id].Select(caused => Make(caused, depth + 1))]
                : [.. Below(id).Select(caused => MessageOf(caused, []))]
        );

    // All messages, each before those that it caused; not recursive, because a chain may be as long as the journey.
    private List<Guid> Below(Guid id)
    {
        var below = new List<Guid>();
        var open = new Stack<Guid>(_caused[id].Reverse());
        while (open.TryPop(out var next))
        {
            below.Add(next);
            foreach (var caused in _caused[next].Reverse())
                open.Push(caused);
        }

        Lifted += below.Count(message => _causes.ParentOf(message) != id);
        return below;
    }

    private JourneyMessage MessageOf(Guid id, IReadOnlyList<JourneyMessage> caused)
    {
        var facts = _messages[id];
        var stages = _stages[id];
        var started = stages.Min(stage => stage.Started);
        var (by, cause) = _causes.Of(id);
        return new JourneyMessage
        {
            Id = id,
            CausedBy = by,
            Cause = cause,
            State = StageStates.Of(stages),
            Subject = facts.LastOrDefault(fact => fact.Subject is not null)?.Subject,
            Party = facts.FirstOrDefault(fact => fact.Party is not null)?.Party,
            TraceId = facts.FirstOrDefault(fact => fact.TraceId is not null)?.TraceId,
            Started = started,
            Duration = stages.Max(stage => stage.Started + stage.Duration) - started,
            Working = WorkedTime.Of(stages),
            Fields = FieldsOf(facts),
            Stages = stages,
            Caused = caused,
        };
    }

    private static Dictionary<string, string> FieldsOf(IReadOnlyList<AuditFact> facts)
    {
        var fields = new Dictionary<string, string>();
        foreach (
            var (name, value) in facts
                .Where(fact => fact.Kind is not (AuditKind.Replayed or AuditKind.Erased))
                .SelectMany(fact => fact.Fields)
        )
            fields[name] = value; // those of a replay are its own
        return fields;
    }
}
