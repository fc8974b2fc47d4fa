using Esb.Core.Topics;

namespace Esb.Topics.RabbitMq.Wire;

/// <summary>Headers on the wire, in addition to those of <see cref="Esb.Core.Messages.EsbHeaders"/>.</summary>
internal static class WireHeaders
{
    /// <summary>The trace that the message belongs to (https://www.w3.org/TR/trace-context/).</summary>
    public const string TraceParent = "traceparent";

    /// <summary>Accompanies <see cref="TraceParent"/>.</summary>
    public const string TraceState = "tracestate";

    /// <summary>The subject of the publish, while the message waits in a queue of this bus that no topic leads to.</summary>
    public const string Subject = "esb-subject";

    /// <summary>The party of the message: trusted if the publisher is our own user, as the broker authenticates publishers.</summary>
    public const string Party = "esb-party";

    /// <summary>The way in which the message reached the queue of an endpoint, if not by a topic.</summary>
    public const string Kind = "esb-kind";

    /// <summary>The failures of the attempts so far, while the message waits there.</summary>
    public const string Failures = "esb-failures";

    public const string DeadEndpoint = "esb-dead-endpoint";
    public const string DeadCode = "esb-dead-code";
    public const string DeadReason = "esb-dead-reason";
    public const string DeadException = "esb-dead-exception";
    public const string DeadAttempts = "esb-dead-attempts";
    public const string DeadFirst = "esb-dead-first";
    public const string DeadLast = "esb-dead-last";

    /// <summary>The token that identifies an unroutable message that is published again.</summary>
    public const string Again = "esb-again";

    /// <summary>The queues from which the broker has moved the message, and the reasons.</summary>
    public const string Deaths = "x-death";

    /// <summary>The number of earlier deliveries of the message by a quorum queue.</summary>
    public const string DeliveryCount = "x-delivery-count";

    /// <summary>Returns the kind on the wire of a message that bypasses the topics.</summary>
    public static string NameOf(DeliveryKind kind) =>
        kind switch
        {
            DeliveryKind.Replay => "replay",
            DeliveryKind.Release => "release",
            _ => "moved", // published long ago, and moved here from another queue
        };

    /// <summary>Returns the kind that a header names; null if it names none.</summary>
    public static DeliveryKind? KindOf(string? name) =>
        name switch
        {
            "replay" => DeliveryKind.Replay,
            "release" => DeliveryKind.Release,
            "moved" => DeliveryKind.Published,
            _ => null,
        };
}
