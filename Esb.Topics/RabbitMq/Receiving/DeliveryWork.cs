using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Topics.ClaimChecks;
using Esb.Topics.RabbitMq.Wire;
using Microsoft.Extensions.Logging;

namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>Passes a delivery to the handler and carries out the settlement, up to the acknowledgement. Thread-safe.</summary>
internal sealed partial class DeliveryWork(
    Subscription subscription,
    DeliveryHandler handler,
    WireReader reader,
    BodyClaims claims,
    DeliverySettler settler,
    SeenDeliveries seen,
    Live<LimitsConfig> limits,
    TimeProvider time,
    ILogger logger
)
{
    /// <summary>The unsettled deliveries of this process.</summary>
    public SeenDeliveries Seen => seen;

    /// <summary>Returns the turn of a message in its lane; null if it waits for no other.</summary>
    public string? TurnOf(WireMessage wire)
    {
        try
        {
            return subscription.TurnOf?.Invoke(reader.Read(wire, subscription.Endpoint));
        }
        catch (Exception)
        {
            return null; // what is wrong with the message is logged when it is handled
        }
    }

    /// <summary>Handles a delivery.</summary>
    /// <param name="wire">The message as received.</param>
    /// <param name="source">The source of the delivery.</param>
    /// <param name="stopping">Cancels the wait for a broker that does not accept the publishes required before settlement.</param>
    /// <param name="aborting">Cancels the handler.</param>
    /// <returns>True if the delivery may be acknowledged; otherwise it returns to its queue.</returns>
    /// <exception cref="OperationCanceledException"><paramref name="stopping"/> was cancelled.</exception>
    public async Task<bool> TrySettleAsync(WireMessage wire, DeliverySource source, CancellationToken stopping, CancellationToken aborting)
    {
        try
        {
            return await SettleAsync(wire, source, stopping, aborting);
        }
        catch (Exception ex) when (ex is not OperationCanceledException || !stopping.IsCancellationRequested)
        {
            LogReturned(wire.Properties.MessageId, subscription.Endpoint, ex);
            return false;
        }
    }

    private async Task<bool> SettleAsync(WireMessage wire, DeliverySource source, CancellationToken stopping, CancellationToken aborting)
    {
        var delivery = Read(wire, source);
        var settlement = Refuse(delivery.Message) ?? await HandleAsync(delivery, stopping, aborting);
        switch (settlement)
        {
            case Settlement.ReturnSettlement:
                return false;
            case Settlement.Later later:
                await settler.DeferAsync(subscription, delivery, wire.Properties.ReplyTo, later, stopping);
                return true;
            case Settlement.Divert divert:
                await settler.DivertAsync(divert.Letter, delivery.Parent, stopping);
                return true;
            default:
                return true;
        }
    }

    // The handler receives the body; a message that waits for its next attempt keeps its original reference.
    private async Task<Settlement> HandleAsync(TopicDelivery delivery, CancellationToken stopping, CancellationToken aborting)
    {
        EsbMessage message;
        try
        {
            message = await claims.AwaitAsync(delivery.Message, stopping);
        }
        catch (EsbException ex) when (!ex.IsTransient)
        {
            return Divert(delivery.Message, ex.Code, ex.Message);
        }

        return message.Body.IsBuffered || subscription.TakesStreams
            ? await handler(delivery with { Message = message }, aborting)
            : Divert(
                delivery.Message,
                "ESB-BODY-SIZE",
                $"The body has {message.Body.Length} bytes, more than limits.maxBodySize, and the endpoint needs it in memory."
            );
    }

    private TopicDelivery Read(WireMessage wire, DeliverySource source)
    {
        var message = reader.Read(wire, subscription.Endpoint);
        var address = settler.AddressOf(wire, message);
        ReplySender? replier = address is null ? null : (reply, stopping) => settler.ReplyAsync(address, reply, stopping);
        return new TopicDelivery(message, WireReader.Parent(wire), replier)
        {
            ReplyAddress = address is null ? null : address.ToString,
            Kind = reader.KindOf(wire, subscription.Endpoint),
            Source = source,
            Redeliveries = wire.Redeliveries,
            ExpiresAt = reader.ExpiryOf(wire),
            Failures = reader.ReadFailures(wire, subscription.Endpoint),
        };
    }

    // Refuses messages that foreign clients may publish, but that this bus could neither handle nor write again.
    private Settlement.Divert? Refuse(EsbMessage message)
    {
        var maxBodyBytes = limits.Current.MaxBodySize.Bytes;
        if (message.Body.Length > maxBodyBytes)
            return Divert(message, "ESB-AMQP-SIZE", $"The body is larger than {maxBodyBytes} bytes.");
        return WireLimits.ExcessOf(message) is { } excess
            ? Divert(
                message with
                {
                    Headers = MessageHeaders.From(message.Headers.Where(header => header.Key == EsbHeaders.Claim)),
                    Key = null,
                },
                "ESB-HDR-LIMIT",
                $"{excess} They were dropped."
            )
            : null;
    }

    private Settlement.Divert Divert(EsbMessage message, string code, string reason)
    {
        var now = time.GetUtcNow();
        return new Settlement.Divert(new DeadLetter(message, subscription.Endpoint, code, reason, null, 0, now, now));
    }

    [LoggerMessage(
        EventId = 1520,
        Level = LogLevel.Error,
        Message = "Message {MessageId} could not be settled at {Endpoint}; it goes back to its queue"
    )]
    private partial void LogReturned(string? messageId, string endpoint, Exception exception);
}
