using Esb.Core.Audit;

namespace Esb.Audit.Journeys.Drawing;

/// <summary>One end of an arrow.</summary>
internal readonly record struct ArrowEnd(ParticipantKind Kind, string Name);

/// <summary>Determines the two ends and the line of an arrow.</summary>
internal static class ArrowEnds
{
    private static readonly ArrowEnd DeadLetters = new(ParticipantKind.DeadLetters, "dead letters");

    public static (ArrowEnd From, ArrowEnd To, ArrowLine Line) Of(DrawnEvent drawn) =>
        drawn.Stage.Kind switch
        {
            JourneyStageKind.Entry => AtEntry(drawn),
            JourneyStageKind.Publication => AtTopic(drawn),
            JourneyStageKind.Call => Towards(InsideOf(drawn.Event.Fact), EndpointOf(drawn), drawn.Event.Fact),
            _ => AtEndpoint(drawn),
        };

    private static (ArrowEnd, ArrowEnd, ArrowLine) AtEntry(DrawnEvent drawn)
    {
        var fact = drawn.Event.Fact;
        var sender = new ArrowEnd(ParticipantKind.Sender, drawn.Message.Party ?? "sender");
        return fact.Kind switch
        {
            AuditKind.Received => (sender, EntryOf(fact), ArrowLine.Solid),
            AuditKind.Recorded or AuditKind.Erased or AuditKind.Completed => (InsideOf(fact), InsideOf(fact), ArrowLine.Solid),
            AuditKind.StepEnded => (InsideOf(fact), InsideOf(fact), fact.Code is null ? ArrowLine.Solid : ArrowLine.Failed),
            AuditKind.Duplicate or AuditKind.Filtered or AuditKind.Replied => (EntryOf(fact), sender, ArrowLine.Dashed),
            _ => (EntryOf(fact), sender, ArrowLine.Failed),
        };
    }

    private static (ArrowEnd, ArrowEnd, ArrowLine) AtTopic(DrawnEvent drawn)
    {
        var fact = drawn.Event.Fact;
        return fact.Kind == AuditKind.Replied
            ? (TopicOf(fact.Subject), InsideOf(fact), fact.Code is null ? ArrowLine.Dashed : ArrowLine.Failed)
            : (InsideOf(fact), TopicOf(fact.Subject), ArrowLine.Solid);
    }

    private static (ArrowEnd, ArrowEnd, ArrowLine) AtEndpoint(DrawnEvent drawn)
    {
        var fact = drawn.Event.Fact;
        var endpoint = EndpointOf(drawn);
        // A replay bypasses the topic.
        var queue = drawn.Event.Replay == 0 ? TopicOf(fact.Subject ?? drawn.Message.Subject) : endpoint;
        return fact.Kind switch
        {
            AuditKind.Replayed => (new ArrowEnd(ParticipantKind.Operator, "operator"), endpoint, ArrowLine.Solid),
            AuditKind.DeadLettered => (endpoint, DeadLetters, ArrowLine.Failed),
            AuditKind.Delivered or AuditKind.Failed or AuditKind.Replied or AuditKind.ReplyAbandoned => Towards(queue, endpoint, fact),
            _ => (endpoint, endpoint, fact.Code is null ? ArrowLine.Solid : ArrowLine.Failed),
        };
    }

    private static (ArrowEnd, ArrowEnd, ArrowLine) Towards(ArrowEnd from, ArrowEnd to, AuditFact fact) =>
        (from, to, fact.Kind == AuditKind.Failed || fact.Code is not null ? ArrowLine.Failed : ArrowLine.Solid);

    private static ArrowEnd EntryOf(AuditFact fact) =>
        fact.Endpoint is { } endpoint ? new ArrowEnd(ParticipantKind.Entry, endpoint) : InsideOf(fact);

    private static ArrowEnd InsideOf(AuditFact fact) =>
        fact.Process is { } process ? new ArrowEnd(ParticipantKind.Process, process)
        : fact.Endpoint is { } endpoint ? new ArrowEnd(ParticipantKind.Entry, endpoint)
        : new ArrowEnd(ParticipantKind.Sender, fact.Party ?? "sender");

    private static ArrowEnd EndpointOf(DrawnEvent drawn) => new(ParticipantKind.Endpoint, drawn.Stage.Endpoint ?? "endpoint");

    private static ArrowEnd TopicOf(string? subject) => new(ParticipantKind.Topic, subject is null ? "topic" : subject.Split('.')[0]);
}
