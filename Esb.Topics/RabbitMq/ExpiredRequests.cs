using Esb.Core.Messages;
using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Wire;
using Microsoft.Extensions.Logging;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq;

/// <summary>Puts a message into the queue of an endpoint.</summary>
internal delegate ValueTask<PublishResult> QueueSender(string endpoint, EsbMessage message, BasicProperties properties, CancellationToken cancellationToken);

/// <summary>Knows what to do with requests that expired in the queue of an endpoint: the time of a message on the wire is over for every subscriber, not only for those who answer.</summary>
/// <param name="names">On the broker.</param>
/// <param name="reader">Reads what comes back.</param>
/// <param name="find">An endpoint of the configuration, on whatever host it runs; null where there is none.</param>
/// <param name="send">Puts back what is wanted all the same.</param>
/// <param name="logger">Hears of each.</param>
internal sealed partial class ExpiredRequests(RabbitMqNames names, WireReader reader, Func<string, Subscription?> find, QueueSender send, ILogger logger)
{
    /// <summary>Drops a request that its endpoint would have answered, and puts one that is a message like any other there behind what waits, this time for good.</summary>
    /// <returns>False where it is to be kept as a dead letter: no request of ours, one of an endpoint that is not known here, or one that lost its place in an order.</returns>
    public async Task<bool> TrySettleAsync(WireMessage wire, CancellationToken over)
    {
        if (!IsOurs(wire) || wire.Properties.Headers.LastDeath() is not { Reason: "expired" } death) return false;
        if (names.EndpointOf(death.Queue) is not { } name || find(name) is not { } endpoint) return false;
        if (!endpoint.Answers) return MayGoBack(endpoint, death) && await TryPutBackAsync(endpoint, wire, death, over);
        LogExpired(wire.Properties.MessageId);
        return true;
    }

    // A host of ours that asked has been told that no reply came in time. Of foreign clients nobody knows what they wait for.
    private bool IsOurs(WireMessage wire) => wire.Properties.ReplyTo is { } replyTo && names.IsOurReplyQueue(replyTo);

    // What was not published to a topic, but brought there from another queue, has lost its subject.
    private static bool MayGoBack(Subscription endpoint, BrokerDeath death) =>
        endpoint is { SingleActive: false, Lanes: null } && endpoint.Patterns.Any(pattern => pattern.Matches(death.RoutingKey));

    private async Task<bool> TryPutBackAsync(Subscription endpoint, WireMessage wire, BrokerDeath death, CancellationToken over)
    {
        var message = reader.ReadMovedByBroker(wire, death.RoutingKey);
        var result = await send(endpoint.Endpoint, message, WireWriter.Direct(message, DeliveryKind.Published, WireReader.Parent(wire)), over);
        if (result.Outcome != PublishOutcome.Confirmed) return false;
        LogPutBack(message.Id, endpoint.Endpoint);
        return true;
    }

    [LoggerMessage(EventId = 1516, Level = LogLevel.Debug, Message = "Request {MessageId} expired before anybody answered it")]
    private partial void LogExpired(string? messageId);

    [LoggerMessage(EventId = 1571, Level = LogLevel.Debug, Message = "Request {MessageId} expired in the queue of {Endpoint}, which does not answer; it was put back as a message like any other")]
    private partial void LogPutBack(Guid messageId, string endpoint);
}
