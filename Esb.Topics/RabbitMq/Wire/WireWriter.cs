using System.Diagnostics;
using System.Globalization;
using System.Text;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Topics;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Wire;

/// <summary>Writes messages as properties and headers of AMQP 0-9-1. There is no envelope: the body is sent as is.</summary>
internal static class WireWriter
{
    /// <summary>Returns the properties of a message for a topic.</summary>
    public static BasicProperties Publish(EsbMessage message, bool isPersistent)
    {
        var properties = Envelope(message, isPersistent);
        AddTrace(properties.Headers!, Activity.Current?.Context ?? default);
        return properties;
    }

    /// <summary>Returns the properties of a request, which expires after its time-out. The time-out begins now, however old the message
    /// is.</summary>
    public static BasicProperties Request(EsbMessage message, bool isPersistent, string replyTo, TimeSpan timeout, DateTimeOffset now)
    {
        var properties = Publish(message, isPersistent);
        properties.Timestamp = new AmqpTimestamp(now.ToUnixTimeSeconds());
        properties.ReplyTo = replyTo;
        properties.Expiration = Milliseconds(timeout);
        return properties;
    }

    /// <summary>Returns the properties of a message of any publisher that is published again: unchanged except for content reserved to its
    /// publisher, for values that nested too deep, and for the token.</summary>
    /// <remarks>The party that its publisher stated is replaced by the known one: from now on this bus states it.</remarks>
    public static BasicProperties Again(IReadOnlyBasicProperties first, string? party, string token)
    {
        var known = (first.Headers ?? new Dictionary<string, object?>()).Where(header => !HeaderTable.HoldsBytes(header.Value));
        var headers = new Dictionary<string, object?>(known) { [WireHeaders.Again] = token };
        headers.Remove(Constants.PublishSequenceNumberHeader);
        headers.Remove(WireHeaders.Party);
        Add(headers, WireHeaders.Party, party);
        var properties = new BasicProperties(first) { Headers = headers };
        properties.ClearUserId(); // the broker accepts only our own
        return properties;
    }

    /// <summary>Returns the properties of a message to this process itself.</summary>
    public static BasicProperties Probe(string id, TimeSpan timeout) =>
        new()
        {
            MessageId = id,
            CorrelationId = id,
            Expiration = Milliseconds(timeout),
        };

    /// <summary>Returns the properties of the reply to a request with this id on the wire.</summary>
    public static BasicProperties Reply(EsbMessage reply, string requestId, bool isPersistent)
    {
        var properties = Publish(reply, isPersistent);
        properties.CorrelationId = requestId;
        Add(properties.Headers!, EsbHeaders.Fault, reply.Headers[EsbHeaders.Fault]);
        Add(properties.Headers!, EsbHeaders.Status, reply.Headers[EsbHeaders.Status]);
        return properties;
    }

    /// <summary>Returns the properties of a delivery that waits for its next attempt.</summary>
    public static BasicProperties Retry(TopicDelivery delivery, string? replyTo, Settlement.Later later)
    {
        var properties = Direct(delivery.Message with { Attempt = later.Attempt }, delivery.Kind, delivery.Parent);
        properties.ReplyTo = replyTo;
        Add(properties.Headers!, WireHeaders.Failures, FailureHistory.Write(later.Failures));
        return properties;
    }

    /// <summary>Returns the properties of a message that is moved from one queue of an endpoint to another; a request still
    /// expires.</summary>
    public static BasicProperties Moved(EsbMessage message, DeliveryKind kind, WireMessage wire)
    {
        var properties = Direct(message, kind, WireReader.Parent(wire));
        properties.ReplyTo = wire.Properties.ReplyTo;
        if (wire.TimeToLive is not null)
            properties.Expiration = wire.Properties.Expiration;
        return properties;
    }

    /// <summary>Returns the properties of a message for one endpoint that bypasses its topics.</summary>
    public static BasicProperties Direct(EsbMessage message, DeliveryKind kind, ActivityContext parent)
    {
        var properties = Kept(message, parent);
        properties.Headers![EsbHeaders.Attempt] = message.Attempt;
        Add(properties.Headers, WireHeaders.Kind, WireHeaders.NameOf(kind));
        return properties;
    }

    /// <summary>Returns the properties of a dead letter.</summary>
    public static BasicProperties DeadLetter(DeadLetter letter, ActivityContext parent)
    {
        var properties = Kept(letter.Message, parent);
        var headers = properties.Headers!;
        headers[WireHeaders.DeadEndpoint] = letter.Endpoint;
        headers[WireHeaders.DeadCode] = letter.Code;
        headers[WireHeaders.DeadReason] = Cut(letter.Reason);
        headers[WireHeaders.DeadAttempts] = letter.Attempts;
        headers[WireHeaders.DeadFirst] = letter.FirstAttempt.ToString("O", CultureInfo.InvariantCulture);
        headers[WireHeaders.DeadLast] = letter.LastAttempt.ToString("O", CultureInfo.InvariantCulture);
        Add(headers, WireHeaders.DeadException, letter.ExceptionType);
        Add(headers, WireHeaders.Failures, FailureHistory.Write(letter.Failures));
        return properties;
    }

    // For a queue of this bus: includes the facts known from the topic, the broker and this host.
    private static BasicProperties Kept(EsbMessage message, ActivityContext parent)
    {
        var properties = Envelope(message, isPersistent: true);
        var headers = properties.Headers!;
        headers[WireHeaders.Subject] = message.Subject;
        Add(headers, EsbHeaders.Held, message.Headers[EsbHeaders.Held]);
        Add(headers, EsbHeaders.Itinerary, message.Headers[EsbHeaders.Itinerary]);
        AddTrace(headers, parent);
        return properties;
    }

    private static BasicProperties Envelope(EsbMessage message, bool isPersistent)
    {
        var headers = new Dictionary<string, object?>(message.Headers.Count + 8)
        {
            [EsbHeaders.Conversation] = message.ConversationId.ToString(),
        };
        foreach (var (name, value) in message.Headers)
        {
            if (!HeaderRules.IsReserved(name))
                headers[name] = value;
        }

        Add(headers, EsbHeaders.Key, message.Key);
        Add(headers, WireHeaders.Party, message.Party);
        Add(headers, EsbHeaders.Claim, message.Headers[EsbHeaders.Claim]);
        Add(headers, EsbHeaders.Hops, message.Headers[EsbHeaders.Hops]);
        Add(headers, EsbHeaders.SourceId, message.Headers[EsbHeaders.SourceId]);
        return new BasicProperties
        {
            MessageId = message.Id.ToString(),
            CorrelationId = Short(message.CorrelationId),
            ContentType = Short(message.ContentType),
            Timestamp = new AmqpTimestamp(message.CreatedAt.ToUnixTimeSeconds()),
            Persistent = isPersistent,
            Headers = headers,
        };
    }

    private static string Milliseconds(TimeSpan time) => ((long)Math.Max(1, time.TotalMilliseconds)).ToString(CultureInfo.InvariantCulture);

    // For an answer of an external system; published content has been checked before.
    private static string? Short(string? text) => WireLimits.IsShort(text) ? text : null;

    private static void AddTrace(IDictionary<string, object?> headers, ActivityContext trace)
    {
        if (trace == default)
            return;
        headers[WireHeaders.TraceParent] = TraceParent.Of(trace);
        Add(headers, WireHeaders.TraceState, trace.TraceState);
    }

    private static void Add(IDictionary<string, object?> headers, string name, string? value)
    {
        if (value is not null)
            headers[name] = value;
    }

    // A reason that does not fit into a frame with the other headers would cost the channel, and the message would be redelivered.
    private static string Cut(string reason)
    {
        if (Encoding.UTF8.GetByteCount(reason) <= Esb.Core.Storage.DeadLetter.MaxReasonLength)
            return reason;
        var bytes = new byte[Esb.Core.Storage.DeadLetter.MaxReasonLength];
        Encoding.UTF8.GetEncoder().Convert(reason, bytes, flush: true, out _, out var length, out _);
        return Encoding.UTF8.GetString(bytes, 0, length);
    }
}
