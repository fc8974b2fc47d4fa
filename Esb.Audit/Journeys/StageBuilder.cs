using Esb.Core.Audit;
using Esb.Core.Replays;

namespace Esb.Audit.Journeys;

/// <summary>Gathers facts by the places where they happened.</summary>
internal static class StageBuilder
{
    /// <summary>On a replayed fact, the endpoint that had given the message up.</summary>
    private const string RedirectedFrom = "redirected-from";

    /// <summary>The places of each message, in the order in which it came there.</summary>
    public static IReadOnlyDictionary<Guid, IReadOnlyList<JourneyStage>> Build(IReadOnlyList<AuditFact> facts, EventTimes times)
    {
        var entries = StageKey.EntriesOf(facts);
        var moves = MovesOf(facts);
        return facts
            .GroupBy(fact => StageKey.Of(fact, entries))
            .Select(place => (place.Key.Message, Stage: StageOf(place.Key, place, times, moves)))
            .GroupBy(place => place.Message)
            .ToDictionary(
                message => message.Key,
                message =>
                    (IReadOnlyList<JourneyStage>)
                        [
                            .. message
                                .Select(place => place.Stage)
                                .OrderBy(stage => stage.Started)
                                .ThenBy(stage => stage.Kind)
                                .ThenBy(stage => stage.Events[0].Fact.Id),
                        ]
            );
    }

    private static JourneyStage StageOf(
        StageKey key,
        IEnumerable<AuditFact> facts,
        EventTimes times,
        IReadOnlyDictionary<(Guid, string), string> moves
    )
    {
        var replays = 0;
        var events = TimesOf(key.Kind, facts, times)
            .OrderBy(happened => happened.Times.Ended)
            .ThenBy(happened => happened.Fact.Id)
            .Select(happened => new JourneyEvent(
                happened.Fact,
                happened.Fact.Kind == AuditKind.Replayed ? ++replays : replays,
                happened.Times.Started,
                happened.Times.Ended
            ))
            .ToList();
        var started = events.Min(happened => happened.Started);
        var state = StageStates.Of(key.Kind, events);
        var replayedAs = key.Endpoint is not null ? moves.GetValueOrDefault((key.Message, key.Endpoint)) : null;
        return new JourneyStage
        {
            Kind = key.Kind,
            Endpoint = key.Endpoint,
            Process = events.Select(happened => happened.Fact.Process).FirstOrDefault(process => process is not null),
            State = replayedAs is not null && state == JourneyState.DeadLettered ? JourneyState.Replayed : state,
            Started = times.Origin + started,
            Duration = events.Max(happened => happened.Ended) - started,
            ReplayedAs = replayedAs,
            Events = events,
        };
    }

    // That a request was published is recorded together with its reply, and says nothing of when: it was when the waiting began.
    private static IEnumerable<(AuditFact Fact, (TimeSpan Started, TimeSpan Ended) Times)> TimesOf(
        JourneyStageKind kind,
        IEnumerable<AuditFact> facts,
        EventTimes times
    )
    {
        var all = facts.Select(fact => (Fact: fact, Times: times.Of(fact))).ToList();
        if (
            kind != JourneyStageKind.Publication
            || all.Find(happened => happened.Fact.Kind == AuditKind.Replied) is not { Fact: not null } reply
        )
            return all;
        return all.Select(happened =>
            happened.Fact is { Kind: AuditKind.Published, Duration: null }
                ? (happened.Fact, (reply.Times.Started, reply.Times.Started))
                : happened
        );
    }

    // What was given up at one place and sent again as another message, or to another endpoint.
    private static Dictionary<(Guid, string), string> MovesOf(IEnumerable<AuditFact> facts)
    {
        var moves = new Dictionary<(Guid, string), string>();
        foreach (var fact in facts.Where(fact => fact is { Kind: AuditKind.Replayed, Endpoint: not null }))
        {
            var origin = Guid.TryParse(fact.Fields.GetValueOrDefault(ReplayEdit.ReplayOf), out var edited) ? edited : fact.MessageId;
            var from = fact.Fields.GetValueOrDefault(RedirectedFrom) ?? fact.Endpoint!;
            if (origin != fact.MessageId)
                moves[(origin, from)] = fact.MessageId.ToString();
            else if (from != fact.Endpoint)
                moves[(origin, from)] = fact.Endpoint!;
        }

        return moves;
    }
}
