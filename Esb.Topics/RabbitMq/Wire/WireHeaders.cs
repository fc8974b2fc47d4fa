using Esb.Core.Topics;

namespace Esb.Topics.RabbitMq.Wire;

/// <summary>Headers on the wire beside those of <see cref="Esb.Core.Messages.EsbHeaders"/>.</summary>
internal static class WireHeaders
{
    /// <summary>The trace that the message belongs to (https://www.w3.org/TR/trace-context/).</summary>
    public const string TraceParent = "traceparent";

    /// <summary>Goes with <see cref="TraceParent"/>.</summary>
    public const string TraceState = "tracestate";

    /// <summary>What the message was published under, while it waits in a queue of ours that no topic leads to.</summary>
    public const string Subject = "esb-subject";

    /// <summary>Whose message it is: believed of our own user, for whom the broker vouches.</summary>
    public const string Party = "esb-party";

    /// <summary>How it came to the queue of an endpoint, where not by a topic.</summary>
    public const string Kind = "esb-kind";

    /// <summary>What became of the attempts so far, while it waits there.</summary>
    public const string Failures = "esb-failures";

    public const string DeadEndpoint = "esb-dead-endpoint";
    public const string DeadCode = "esb-dead-code";
    public const string DeadReason = "esb-dead-reason";
    public const string DeadException = "esb-dead-exception";
    public const string DeadAttempts = "esb-dead-attempts";
    public const string DeadFirst = "esb-dead-first";
    public const string DeadLast = "esb-dead-last";

    /// <summary>On a message that was unroutable and is published again, what tells it from others.</summary>
    public const string Again = "esb-again";

    /// <summary>Where the broker has moved the message from, and why.</summary>
    public const string Deaths = "x-death";

    /// <summary>How often a quorum queue has delivered the message before.</summary>
    public const string DeliveryCount = "x-delivery-count";

    /// <summary>A kind on the wire, of a message that comes past the topics.</summary>
    public static string NameOf(DeliveryKind kind) => kind switch
    {
        DeliveryKind.Replay => "replay",
        DeliveryKind.Release => "release",
        _ => "moved", // published long ago, and brought here from another queue
    };

    /// <summary>The kind that a header names; null where it names none.</summary>
    public static DeliveryKind? KindOf(string? name) => name switch
    {
        "replay" => DeliveryKind.Replay,
        "release" => DeliveryKind.Release,
        "moved" => DeliveryKind.Published,
        _ => null,
    };
}
