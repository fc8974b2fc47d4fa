using Esb.Core.Messages;
using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Wire;
using Microsoft.Extensions.Logging;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq;

/// <summary>Puts a message into the queue of an endpoint.</summary>
internal delegate ValueTask<PublishResult> QueueSender(
    string endpoint,
    EsbMessage message,
    BasicProperties properties,
    CancellationToken cancellationToken
);

/// <summary>Handles requests that expired in the queue of an endpoint. The time of a message on the wire expires for every subscriber, not
/// only for those that answer.</summary>
/// <param name="names">The names on the broker.</param>
/// <param name="reader">Reads the expired messages.</param>
/// <param name="find">Finds an endpoint of the configuration, on whatever host it runs; null if it does not exist.</param>
/// <param name="send">Puts messages that are still wanted back into the queue.</param>
/// <param name="logger">Logs each message.</param>
internal sealed partial class ExpiredRequests(
    RabbitMqNames names,
    WireReader reader,
    Func<string, Subscription?> find,
    QueueSender send,
    ILogger logger
)
{
    /// <summary>Drops a request that its endpoint would have answered. Puts a request that is an ordinary message there behind the waiting
    /// messages, now without an expiration.</summary>
    /// <returns>False if the message is to be kept as a dead letter: it is no request of this bus, its endpoint is unknown here, or it lost
    /// its place in an order.</returns>
    public async Task<bool> TrySettleAsync(WireMessage wire, CancellationToken over)
    {
        if (!IsOurs(wire) || wire.Properties.Headers.LastDeath() is not { Reason: "expired" } death)
            return false;
        if (names.EndpointOf(death.Queue) is not { } name || find(name) is not { } endpoint)
            return false;
        if (!endpoint.Answers)
            return MayGoBack(endpoint, death) && await TryPutBackAsync(endpoint, wire, death, over);
        LogExpired(wire.Properties.MessageId);
        return true;
    }

    // A requesting host of this bus has already reported the time-out to its caller. The expectations of foreign clients are unknown.
    private bool IsOurs(WireMessage wire) => wire.Properties.ReplyTo is { } replyTo && names.IsOurReplyQueue(replyTo);

    // A message that was moved here from another queue, not published to a topic, has lost its subject.
    private static bool MayGoBack(Subscription endpoint, BrokerDeath death) =>
        endpoint is { SingleActive: false, Lanes: null } && endpoint.Patterns.Any(pattern => pattern.Matches(death.RoutingKey));

    private async Task<bool> TryPutBackAsync(Subscription endpoint, WireMessage wire, BrokerDeath death, CancellationToken over)
    {
        var message = reader.ReadMovedByBroker(wire, death.RoutingKey);
        var result = await send(
            endpoint.Endpoint,
            message,
            WireWriter.Direct(message, DeliveryKind.Published, WireReader.Parent(wire)),
            over
        );
        if (result.Outcome != PublishOutcome.Confirmed)
            return false;
        LogPutBack(message.Id, endpoint.Endpoint);
        return true;
    }

    [LoggerMessage(EventId = 1516, Level = LogLevel.Debug, Message = "Request {MessageId} expired without an answer")]
    private partial void LogExpired(string? messageId);

    [LoggerMessage(
        EventId = 1571,
        Level = LogLevel.Debug,
        Message = "Request {MessageId} expired in the queue of {Endpoint}, which does not answer; it was put back as a message like "
            + "any other"
    )]
    private partial void LogPutBack(Guid messageId, string endpoint);
}
