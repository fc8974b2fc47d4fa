using System.Diagnostics;
using Esb.Core.Brokers;

namespace Esb.Endpoints.MassTransit;

/// <summary>Headers of the broker in which MassTransit keeps what an envelope would hold.</summary>
internal static class MassTransitHeaders
{
    private const string MessageId = "MessageId";
    private const string RequestId = "RequestId";
    private const string CorrelationId = "CorrelationId";
    private const string ConversationId = "ConversationId";
    private const string ResponseAddress = "MT-Response-Address";
    private const string FaultAddress = "MT-Fault-Address";
    private const string MessageType = "MT-MessageType";
    private const string ActivityId = "MT-Activity-Id";
    private const string TraceParent = "traceparent";
    private const string TraceState = "tracestate";

    /// <summary>Reads a message without an envelope.</summary>
    public static Envelope ReadRaw(BrokerMessage delivery) =>
        new()
        {
            Message = EnvelopeReader.ReadRaw(delivery.Body),
            MessageId = delivery.Header(MessageId) ?? delivery.MessageId,
            RequestId = delivery.Header(RequestId),
            CorrelationId = delivery.Header(CorrelationId) ?? delivery.CorrelationId,
            ConversationId = delivery.Header(ConversationId),
            ResponseAddress = delivery.Header(ResponseAddress),
            FaultAddress = delivery.Header(FaultAddress),
            MessageTypes =
                delivery.Header(MessageType)?.Split(';', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries) ?? [],
            SentTime = delivery.Timestamp,
            Headers = [.. delivery.Headers],
        };

    /// <summary>The trace of a message.</summary>
    public static ActivityContext Parent(Envelope envelope, BrokerMessage delivery)
    {
        var id =
            delivery.Header(TraceParent)
            ?? delivery.Header(ActivityId)
            ?? HeaderOf(envelope, TraceParent)
            ?? HeaderOf(envelope, ActivityId);
        return ActivityContext.TryParse(id, delivery.Header(TraceState), isRemote: true, out var parent) ? parent : default;
    }

    /// <summary>The headers that continue the current trace.</summary>
    public static IEnumerable<KeyValuePair<string, string>> CurrentTrace()
    {
        if (Activity.Current is not { IdFormat: ActivityIdFormat.W3C, Id: { } id } activity)
            yield break;
        yield return new(TraceParent, id);
        yield return new(ActivityId, id);
        if (!string.IsNullOrEmpty(activity.TraceStateString))
            yield return new(TraceState, activity.TraceStateString);
    }

    private static string? HeaderOf(Envelope envelope, string name)
    {
        foreach (var (key, value) in envelope.Headers)
        {
            if (key.Equals(name, StringComparison.OrdinalIgnoreCase))
                return value;
        }

        return null;
    }
}
