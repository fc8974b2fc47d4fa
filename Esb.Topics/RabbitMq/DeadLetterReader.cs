using Esb.Core.Configuration;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Connections;
using Esb.Topics.RabbitMq.Wire;
using Microsoft.Extensions.Logging;
using RabbitMQ.Client;
using RabbitMQ.Client.Events;

namespace Esb.Topics.RabbitMq;

/// <summary>Hands over dead letters one at a time; only accepted ones leave the broker.</summary>
internal sealed partial class DeadLetterReader : ITopicReader
{
    // Hosts of release 0.1 may return.
    private static readonly TimeSpan OldInterval = TimeSpan.FromSeconds(30);

    private readonly RabbitMqNames _names;
    private readonly WireReader _reader;
    private readonly ExpiredRequests _expired;
    private readonly OldDeadLetters _old;
    private readonly DeadLetterHandler _handler;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly BrokerConsumer _consumer;
    private readonly BrokerConsumer _oldConsumer;

    public DeadLetterReader(
        BrokerConnection connection,
        RabbitMqNames names,
        WireReader reader,
        ExpiredRequests expired,
        OldDeadLetters old,
        DeadLetterHandler handler,
        TimeProvider time,
        ILogger logger
    )
    {
        (_names, _reader, _expired, _old, _handler, _time, _logger) = (names, reader, expired, old, handler, time, logger);
        _consumer = new BrokerConsumer(
            connection,
            (_, _) => Task.FromResult(new ConsumerQueue(names.DeadLetters, Prefetch: 1)),
            DeliverAsync,
            time,
            logger
        );
        _oldConsumer = new BrokerConsumer(connection, AwaitOldAsync, DeliverOldAsync, time, logger);
    }

    public bool IsLive => _consumer.Queue is not null;

    public async ValueTask DisposeAsync()
    {
        await _consumer.DisposeAsync();
        await _oldConsumer.DisposeAsync();
    }

    private async Task<ConsumerQueue> AwaitOldAsync(IChannel channel, CancellationToken cancellationToken)
    {
        while (!await _old.ExistAsync(cancellationToken))
            await Task.Delay(OldInterval, _time, cancellationToken);
        return new ConsumerQueue(_names.OldDeadLetters, Prefetch: 1);
    }

    private async Task DeliverOldAsync(IChannel channel, BasicDeliverEventArgs delivery, CancellationToken over)
    {
        var wire = WireMessage.Of(delivery);
        var letter = Read(wire);
        if (await _old.FindStrangerAsync(letter.Endpoint, over) is not { } stranger)
        {
            await DeliverAsync(channel, delivery, over);
            return;
        }

        await _old.PassOnAsync(stranger, letter, WireReader.Parent(wire), over);
        await channel.BasicAckAsync(delivery.DeliveryTag, multiple: false, over);
    }

    private async Task DeliverAsync(IChannel channel, BasicDeliverEventArgs delivery, CancellationToken over)
    {
        var wire = WireMessage.Of(delivery);
        if (!await _expired.TrySettleAsync(wire, over))
            await HandOverAsync(Read(wire), over);
        await channel.BasicAckAsync(delivery.DeliveryTag, multiple: false, over);
    }

    private async Task HandOverAsync(DeadLetter letter, CancellationToken over)
    {
        var backoff = new Backoff(_time);
        while (true)
        {
            try
            {
                await _handler(letter, over);
                return;
            }
            catch (Exception ex) when (!over.IsCancellationRequested)
            {
                LogNotTaken(letter.Message.Id, letter.Endpoint, ex);
                await backoff.WaitAsync(over);
            }
        }
    }

    private DeadLetter Read(WireMessage wire)
    {
        var headers = wire.Properties.Headers;
        if (headers.LastDeath() is { } death)
            return ReadMovedByBroker(wire, death); // our own are published here and carry no death
        var message = _reader.ReadKept(wire);
        if (!_reader.IsBelieved(wire))
            return ReadStrangers(wire, message);
        var reason = headers.Text(WireHeaders.DeadReason) ?? "";
        var failures = WireReader.ReadFailures(wire);
        return new DeadLetter(
            message,
            headers.Text(WireHeaders.DeadEndpoint) ?? "",
            headers.Text(WireHeaders.DeadCode) ?? "",
            reason,
            headers.Text(WireHeaders.DeadException),
            headers.Number(WireHeaders.DeadAttempts) ?? 0,
            headers.Time(WireHeaders.DeadFirst) ?? message.CreatedAt,
            headers.Time(WireHeaders.DeadLast) ?? message.CreatedAt
        )
        {
            // it is sent in full once
            Failures = failures.Count == 0 ? [] : [.. failures.SkipLast(1), failures[^1] with { Reason = reason }],
            TraceParent = headers.Text(WireHeaders.TraceParent),
        };
    }

    // Kept, as everything that comes, but at no endpoint to which an operator would replay it without a look.
    private DeadLetter ReadStrangers(WireMessage wire, EsbMessage message)
    {
        var now = _time.GetUtcNow();
        var said = wire.Properties.Headers.Text(WireHeaders.DeadEndpoint) ?? "";
        return new DeadLetter(
            message,
            "",
            "ESB-FARM-KEY",
            $"No host of this farm has signed this dead letter. It says that it is of the endpoint '{Clipped.Name(said)}'.",
            null,
            0,
            now,
            now
        );
    }

    // A full queue that drops its oldest message, a queue's delivery limit, or an expired time: no endpoint of this bus gave the message
    // up.
    private DeadLetter ReadMovedByBroker(WireMessage wire, BrokerDeath death)
    {
        var now = _time.GetUtcNow();
        var message = _reader.ReadMovedByBroker(wire, death.RoutingKey);
        var endpoint = _names.EndpointOf(death.Queue) ?? death.Queue;
        return new DeadLetter(
            message,
            endpoint,
            "ESB-BROKER-MOVED",
            $"The broker moved the message out of its queue: {death.Reason}.",
            null,
            0,
            now,
            now
        );
    }

    [LoggerMessage(
        EventId = 1515,
        Level = LogLevel.Error,
        Message = "The dead letter {MessageId} of {Endpoint} could not be stored; it is offered again"
    )]
    private partial void LogNotTaken(Guid messageId, string endpoint, Exception exception);
}
