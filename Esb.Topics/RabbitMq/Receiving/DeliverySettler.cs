using System.Diagnostics;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Topics.ClaimChecks;
using Esb.Topics.RabbitMq.Connections;
using Esb.Topics.RabbitMq.Publishing;
using Esb.Topics.RabbitMq.Replies;
using Esb.Topics.RabbitMq.Wire;
using Microsoft.Extensions.Logging;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>Publishes the result of a delivery: a retry, a dead letter or a reply. The delivery may be acknowledged only after the
/// confirm.</summary>
internal sealed partial class DeliverySettler(
    RabbitMqNames names,
    ConfirmedPublisher publisher,
    BodyClaims claims,
    TimeProvider time,
    ILogger logger
)
{
    // For a foreign requester that set no expiration.
    private static readonly TimeSpan DefaultTimeToLive = TimeSpan.FromSeconds(60);

    /// <summary>Moves a delivery to the queue where it waits for its next attempt.</summary>
    public Task DeferAsync(
        Subscription subscription,
        TopicDelivery delivery,
        string? replyTo,
        Settlement.Later later,
        CancellationToken stopping
    )
    {
        var rung = names.Rung(subscription.Endpoint, RungFor(subscription.RetryDelays, later.Delay));
        return MoveAsync(delivery.Message, rung, () => WireWriter.Retry(delivery, replyTo, later), stopping);
    }

    /// <summary>Moves a delivery to the dead letters.</summary>
    public async Task DivertAsync(DeadLetter letter, ActivityContext parent, CancellationToken stopping)
    {
        var travelling = letter with { Message = await claims.CheckInAsync(letter.Message) };
        await MoveAsync(travelling.Message, names.DeadLetters, () => WireWriter.DeadLetter(travelling, parent), stopping);
    }

    /// <summary>Returns where the reply to a request goes; null if the message is no request.</summary>
    public ReplyAddress? AddressOf(WireMessage request, EsbMessage message)
    {
        if (request.Properties.ReplyTo is not { Length: > 0 } replyTo)
            return null;
        if (!names.MayReplyTo(replyTo))
        {
            LogReplyRefused(message.Id, replyTo);
            return null;
        }

        // A requester that sent no id of its own recognises the reply by its correlation id.
        var requestId = request.Properties.MessageId is { Length: > 0 } id ? id : request.Properties.CorrelationId ?? message.Id.ToString();
        return new ReplyAddress(replyTo, requestId, time.GetUtcNow() + (request.TimeToLive ?? DefaultTimeToLive));
    }

    /// <summary>Sends a reply. Retries until the request expires: the work has been done, and is not repeated for the sake of the
    /// reply.</summary>
    /// <returns>False if no requester waits for it any more.</returns>
    public async ValueTask<bool> ReplyAsync(ReplyAddress address, EsbMessage reply, CancellationToken stopping)
    {
        var (replyTo, requestId, _) = address;
        if (WireLimits.ExcessOf(reply) is { } excess)
        {
            LogReplyCut(requestId, excess);
            reply = reply with
            {
                Headers = MessageHeaders.From(reply.Headers.Where(header => header.Key is EsbHeaders.Fault or EsbHeaders.Status)),
            };
        }

        if (names.IsOurReplyQueue(replyTo))
            reply = await claims.CheckInReplyAsync(reply);
        var backoff = new Backoff(time);
        while (true)
        {
            var result = await publisher.SendAsync(
                replyTo,
                WireWriter.Reply(reply, requestId, names.AreDurableReplies(replyTo)),
                reply.Body.Bytes
            );
            if (result.Outcome == PublishOutcome.Confirmed)
                return true;
            if (result == ConfirmedChannel.NoQueue || time.GetUtcNow() >= address.ExpiresAt)
            {
                TopicsTelemetry.CountReplyAbandoned();
                LogReplyAbandoned(requestId, result.Reason);
                return false;
            }

            await backoff.WaitAsync(stopping);
        }
    }

    // The delivery is held, not returned: it would be redelivered at once, only to fail again.
    private async Task MoveAsync(EsbMessage message, string queue, Func<BasicProperties> properties, CancellationToken stopping)
    {
        var backoff = new Backoff(time);
        while (true)
        {
            var result = await publisher.SendAsync(queue, properties(), message.Body.Bytes);
            if (result.Outcome == PublishOutcome.Confirmed)
                return;
            LogNotMoved(message.Id, queue, result.Reason);
            await backoff.WaitAsync(stopping);
        }
    }

    private static TimeSpan RungFor(IReadOnlyList<TimeSpan> delays, TimeSpan wanted) =>
        delays.Where(delay => delay >= wanted).DefaultIfEmpty(delays.Max()).Min(); // the next longer one, if there is one

    [LoggerMessage(
        EventId = 1517,
        Level = LogLevel.Warning,
        Message = "Message {MessageId} could not be moved to {Queue}: {Reason}; it is held and tried again"
    )]
    private partial void LogNotMoved(Guid messageId, string queue, string? reason);

    [LoggerMessage(
        EventId = 1518,
        Level = LogLevel.Warning,
        Message = "Message {MessageId} gets no reply: {Queue} is not the queue of a requester (ESB-AMQP-REPLYTO)"
    )]
    private partial void LogReplyRefused(Guid messageId, string queue);

    [LoggerMessage(EventId = 1525, Level = LogLevel.Warning, Message = "The reply to {CorrelationId} goes without its headers: {Excess}")]
    private partial void LogReplyCut(string correlationId, string excess);

    [LoggerMessage(EventId = 1519, Level = LogLevel.Warning, Message = "The reply to {CorrelationId} was abandoned: {Reason}")]
    private partial void LogReplyAbandoned(string correlationId, string? reason);
}
