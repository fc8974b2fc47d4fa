using System.Diagnostics;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Topics;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Wire;

/// <summary>Reads messages of any AMQP client. Content reserved to the bus is trusted only where only the bus can have written
/// it.</summary>
internal sealed class WireReader(RabbitMqNames names, WireSignature signature, TimeProvider time)
{
    // Present on every message of this bus, so their presence claims nothing; neither do headers of the broker and of the client.
    private static readonly string[] Expected =
    [
        EsbHeaders.Conversation,
        EsbHeaders.Key,
        EsbHeaders.SourceId,
        EsbHeaders.Hops,
        WireHeaders.Again,
        WireSignature.Header,
    ];

    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    /// <summary>Reads a message from the queue of an endpoint.</summary>
    public EsbMessage Read(WireMessage wire, string endpoint) =>
        Read(wire, isKept: DirectKindOf(wire, endpoint) is not null || (IsRetry(wire, endpoint) && IsBelieved(wire, endpoint)));

    /// <summary>Returns the way in which a message reached the queue of an endpoint. The header is trusted only if the message bypassed the
    /// topics, and a host of this farm wrote it.</summary>
    public DeliveryKind KindOf(WireMessage wire, string endpoint) => DirectKindOf(wire, endpoint) ?? DeliveryKind.Published;

    /// <summary>Returns the time at which the requester stops waiting; null if no requester waits. Never too early: a time on the wire has
    /// no fractions of a second.</summary>
    public DateTimeOffset? ExpiryOf(WireMessage wire)
    {
        if (wire.TimeToLive is not { } timeToLive || !wire.Properties.IsReplyToPresent())
            return null;
        var arrived = wire.ArrivedAt ?? time.GetUtcNow();
        var published = wire.Properties.IsTimestampPresent() ? HeaderTable.TimeOf(wire.Properties.Timestamp) : null;
        var underWay = published is { } at ? arrived - at - Second : TimeSpan.Zero;
        return arrived + timeToLive - (MayHaveTaken(underWay, timeToLive, wire) ? underWay : TimeSpan.Zero);
    }

    /// <summary>Reads the failures of earlier attempts from a message in the queue of an endpoint.</summary>
    public IReadOnlyList<FailedAttempt> ReadFailures(WireMessage wire, string endpoint) =>
        IsRetry(wire, endpoint) && IsBelieved(wire, endpoint) ? ReadFailures(wire) : [];

    /// <summary>Reads the failures of the attempts from a message in the queue of dead letters.</summary>
    public static IReadOnlyList<FailedAttempt> ReadFailures(WireMessage wire) =>
        FailureHistory.Read(wire.Properties.Headers.Text(WireHeaders.Failures));

    /// <summary>Reads a message from the queue of dead letters.</summary>
    public EsbMessage ReadKept(WireMessage wire) => Read(wire, isKept: IsBelieved(wire));

    /// <summary>True if a host of this farm wrote a dead letter.</summary>
    public bool IsBelieved(WireMessage wire) =>
        signature.IsBelieved(wire.Properties, wire.Body.Span)
        || (!wire.Properties.IsUserIdPresent() && wire.RoutingKey == names.OldDeadLetters);

    // Hosts of release 0.1 name no user: what is in queues under their names is believed until these are migrated.
    private bool IsBelieved(WireMessage wire, string endpoint) =>
        signature.IsBelieved(wire.Properties, wire.Body.Span)
        || (
            !wire.Properties.IsUserIdPresent()
            && (wire.Exchange.Length > 0 ? wire.Exchange == names.Old(endpoint).Queue : names.Old(endpoint).Has(wire.RoutingKey))
        );

    /// <summary>Reads a message that the broker removed from an endpoint's queue, with the subject of its publish.</summary>
    public EsbMessage ReadMovedByBroker(WireMessage wire, string subject) => Read(wire with { RoutingKey = subject }, isKept: false);

    /// <summary>Reads a reply, which may be a fault.</summary>
    public EsbMessage ReadReply(WireMessage wire) => Read(wire, isKept: false, EsbHeaders.Fault, EsbHeaders.Status);

    /// <summary>Returns the party of a message. The broker authenticates the publisher: our own user passes on the party, and any other
    /// user is itself all that is known.</summary>
    public string? PartyOf(IReadOnlyBasicProperties properties, ReadOnlyMemory<byte> body) =>
        signature.IsOurs(properties, body.Span) ? properties.Headers.Text(WireHeaders.Party) : properties.UserId;

    /// <summary>Returns the trace that a message belongs to.</summary>
    public static ActivityContext Parent(WireMessage wire)
    {
        var headers = wire.Properties.Headers;
        return ActivityContext.TryParse(
            headers.Text(WireHeaders.TraceParent),
            headers.Text(WireHeaders.TraceState),
            isRemote: true,
            out var parent
        )
            ? parent
            : default;
    }

    // If false, the clocks differ, and the time counts from the arrival: the broker delivers no expired message, but a move starts the time
    // anew.
    private static bool MayHaveTaken(TimeSpan underWay, TimeSpan timeToLive, WireMessage wire) =>
        underWay > TimeSpan.Zero && (underWay < timeToLive || wire.Properties.Headers.Text(WireHeaders.Kind) is not null);

    private DeliveryKind? DirectKindOf(WireMessage wire, string endpoint) =>
        (wire.Exchange.Length == 0 || names.IsExchange(endpoint, wire.Exchange))
        && WireHeaders.KindOf(wire.Properties.Headers.Text(WireHeaders.Kind)) is { } kind
        && IsBelieved(wire, endpoint)
            ? kind
            : null;

    // The broker itself records the queue from which it moved a message, and only messages of this bus wait on a rung.
    private bool IsRetry(WireMessage wire, string endpoint) =>
        wire.Exchange.Length == 0
        && wire.Properties.Headers.LastDeath() is { Reason: "expired" } death
        && names.IsRung(endpoint, death.Queue);

    private EsbMessage Read(WireMessage wire, bool isKept, params ReadOnlySpan<string> believed)
    {
        var properties = wire.Properties;
        var headers = properties.Headers;
        var subject = isKept ? headers.Text(WireHeaders.Subject) ?? wire.RoutingKey : wire.RoutingKey;
        var id = IdOf(properties, subject, out var sourceId);
        sourceId ??= isKept ? headers.Text(EsbHeaders.SourceId) : null;
        return new EsbMessage
        {
            Id = id,
            Subject = subject,
            ContentType = OneLine(properties.ContentType),
            CorrelationId = OneLine(properties.CorrelationId),
            ConversationId = Guid.TryParse(headers.Text(EsbHeaders.Conversation), out var conversation) ? conversation : id,
            Key = headers.Text(EsbHeaders.Key),
            Party = PartyOf(properties, wire.Body),
            CreatedAt = (properties.IsTimestampPresent() ? HeaderTable.TimeOf(properties.Timestamp) : null) ?? time.GetUtcNow(),
            Attempt = isKept ? headers.Number(EsbHeaders.Attempt) ?? 0 : 0,
            Headers = HeadersOf(
                headers,
                sourceId,
                isKept || signature.IsOurs(properties, wire.Body.Span),
                wire.Body.IsEmpty ? [.. believed, EsbHeaders.Claim] : believed,
                isKept
            ),
            Body = MessageBody.FromBytes(wire.Body),
        };
    }

    private Guid IdOf(IReadOnlyBasicProperties properties, string subject, out string? sourceId)
    {
        sourceId = null;
        if (string.IsNullOrEmpty(properties.MessageId))
        {
            TopicsTelemetry.CountUnidentified();
            return Guid.CreateVersion7(time.GetUtcNow());
        }

        if (!Guid.TryParse(properties.MessageId, out var id))
        {
            sourceId = properties.MessageId;
            id = MessageIds.FromForeign(properties.MessageId, Subject.TopicOf(subject));
        }

        return id;
    }

    private static MessageHeaders HeadersOf(
        IDictionary<string, object?>? headers,
        string? sourceId,
        bool isOurs,
        ReadOnlySpan<string> believed,
        bool isKept
    )
    {
        var admitted = new List<KeyValuePair<string, string>>();
        var claims = 0;
        foreach (var (name, value) in headers ?? new Dictionary<string, object?>())
        {
            if (name is WireHeaders.TraceParent or WireHeaders.TraceState)
                continue;
            if (HeaderRules.IsReserved(name))
            {
                var isBelieved = name == EsbHeaders.Hops || believed.Contains(name) || (isKept && EsbHeaders.IsDirect(name));
                if (isBelieved && HeaderTable.TextOf(value) is { } text)
                    admitted.Add(new(name, text));
                else if (!isOurs && IsClaim(name))
                    claims++;
            }
            else if (HeaderRules.IsName(name) && HeaderTable.TextOf(value) is { } text && HeaderRules.IsValue(text))
            {
                admitted.Add(new(name, text));
            }
        }

        TopicsTelemetry.CountReserved(claims);
        if (OneLine(sourceId) is { } source)
            admitted.Add(new(EsbHeaders.SourceId, source));
        return MessageHeaders.From(admitted);
    }

    // A value of several lines could become additional headers where it is written again: it is omitted, like a header of several lines.
    private static string? OneLine(string? text) => text is not null && HeaderRules.IsValue(text) ? text : null;

    private static bool IsClaim(string name) => !name.StartsWith("x-", StringComparison.OrdinalIgnoreCase) && !Expected.Contains(name);
}
