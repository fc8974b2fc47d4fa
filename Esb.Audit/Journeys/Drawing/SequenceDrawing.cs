using Esb.Core.Audit;

namespace Esb.Audit.Journeys.Drawing;

/// <summary>Builds the sequence diagram of a journey.</summary>
internal sealed class SequenceDrawing
{
    /// <summary>The maximum number of arrows; a larger diagram is unreadable.</summary>
    public const int MaxArrows = 200;

    /// <summary>The maximum number of lifelines.</summary>
    public const int MaxParticipants = 24;

    private readonly Dictionary<(ParticipantKind Kind, string Name), HashSet<string>> _participants = [];
    private readonly List<(ArrowEnd From, ArrowEnd To, ArrowLine Line, TimeSpan At, string Text)> _arrows = [];

    private SequenceDrawing() { }

    public static SequenceDiagram Of(Journey journey)
    {
        var drawing = new SequenceDrawing();
        var messages = journey.Messages.ToList();
        var events = messages
            .SelectMany(
                (message, number) =>
                    message.Stages.SelectMany(stage =>
                        stage.Events.Select(happened => new DrawnEvent(message, number + 1, stage, happened))
                    )
            )
            .OrderBy(drawn => drawn.At)
            .ThenBy(drawn => drawn.Event.Fact.Id)
            .ToList();
        foreach (var drawn in events.Take(MaxArrows))
            drawing.Add(drawn, messages.Count > 1);
        return drawing.Finish(journey, events.Count - MaxArrows);
    }

    private void Add(DrawnEvent drawn, bool withNumber)
    {
        var (from, to, line) = ArrowEnds.Of(drawn);
        var fact = drawn.Event.Fact;
        Find(from);
        Find(to);
        if (fact.Host is not null)
        {
            foreach (
                var end in new[] { from, to }.Where(end =>
                    end.Kind is ParticipantKind.Entry or ParticipantKind.Endpoint
                    && end.Name == fact.Endpoint
                    && fact.Kind != AuditKind.Replayed
                )
            )
                Find(end).Add(fact.Host);
        }

        var took = drawn.Event.Ended - drawn.Event.Started;
        var number = withNumber ? $"#{drawn.Number} " : "";
        var text = $"{number}{JourneyWords.Of(fact)}{(took > TimeSpan.Zero ? $", {JourneyWords.Of(took)}" : "")}";
        _arrows.Add((from, to, line, drawn.At, text));
        if (fact is not { Kind: AuditKind.Received, Endpoint: not null } || NextOf(fact) is not { } next)
            return;
        Find(next.End);
        _arrows.Add((to, next.End, ArrowLine.Solid, drawn.At, $"{number}{next.Text}"));
    }

    // A received message continues to its process or relay at once, without a separate fact.
    private static (ArrowEnd End, string Text)? NextOf(AuditFact fact) =>
        fact.Process is { } process ? (new ArrowEnd(ParticipantKind.Process, process), "runs")
        : RelayFields.IsRelayed(fact) ? (new ArrowEnd(ParticipantKind.Endpoint, fact.Fields[RelayFields.RelayedTo]), "relayed")
        : null;

    private HashSet<string> Find(ArrowEnd end)
    {
        if (_participants.TryGetValue((end.Kind, end.Name), out var hosts))
            return hosts;
        return _participants[(end.Kind, end.Name)] = [];
    }

    private SequenceDiagram Finish(Journey journey, int left)
    {
        var room = _participants.Count <= MaxParticipants ? MaxParticipants : MaxParticipants - 1;
        var shown = _participants
            .Take(room)
            .Select(participant => new Participant(
                participant.Key.Kind,
                participant.Key.Name,
                [.. participant.Value.Order(StringComparer.Ordinal)]
            ))
            .Concat(_participants.Count > room ? [new Participant(ParticipantKind.Others, $"{_participants.Count - room} others", [])] : [])
            .OrderBy(participant => participant.Kind)
            .ToList();
        var places = shown
            .Select((participant, index) => (participant, index))
            .ToDictionary(place => (place.participant.Kind, place.participant.Name), place => place.index);
        var others = shown.FindIndex(participant => participant.Kind == ParticipantKind.Others);
        IEnumerable<string> remarks = left > 0 ? [$"{left} further facts are not drawn."] : [];
        return new SequenceDiagram(
            JourneyWords.Of(journey),
            shown,
            [.. _arrows.Select(arrow => new Arrow(PlaceOf(arrow.From), PlaceOf(arrow.To), arrow.Line, arrow.At, arrow.Text))],
            [.. journey.Remarks, .. remarks]
        );

        int PlaceOf(ArrowEnd end) => places.GetValueOrDefault((end.Kind, end.Name), others);
    }
}
