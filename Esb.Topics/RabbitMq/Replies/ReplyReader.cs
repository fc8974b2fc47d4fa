using System.Collections.Concurrent;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Topics;
using Esb.Topics.ClaimChecks;
using Esb.Topics.RabbitMq.Connections;
using Esb.Topics.RabbitMq.Topology;
using Esb.Topics.RabbitMq.Wire;
using Microsoft.Extensions.Logging;
using RabbitMQ.Client;
using RabbitMQ.Client.Events;

namespace Esb.Topics.RabbitMq.Replies;

/// <summary>Hands over replies to requests that outlive the process which sent them: one durable queue for all hosts of a configuration,
/// from which only accepted replies leave.</summary>
internal sealed partial class ReplyReader : ITopicReader
{
    private const ushort AtOnce = 100;

    private readonly RabbitMqNames _names;
    private readonly RabbitMqTopology _topology;
    private readonly WireReader _reader;
    private readonly BodyClaims _claims;
    private readonly ReplyHandler _handler;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly ConcurrentDictionary<Task, bool> _underWay = new();
    private readonly BrokerConsumer _consumer;

    public ReplyReader(
        BrokerConnection connection,
        RabbitMqNames names,
        RabbitMqTopology topology,
        WireReader reader,
        BodyClaims claims,
        ReplyHandler handler,
        TimeProvider time,
        ILogger logger
    )
    {
        (_names, _topology, _reader, _claims, _handler, _time, _logger) = (names, topology, reader, claims, handler, time, logger);
        _consumer = new BrokerConsumer(connection, DeclareAsync, DeliverAsync, time, logger);
    }

    public bool IsLive => _consumer.Queue is not null;

    public async ValueTask DisposeAsync()
    {
        await _consumer.DisposeAsync();
        await Task.WhenAll(_underWay.Keys);
    }

    private async Task<ConsumerQueue> DeclareAsync(IChannel channel, CancellationToken cancellationToken)
    {
        await _topology.DeclareRepliesAsync(channel, cancellationToken);
        return new ConsumerQueue(_names.DurableReplies, AtOnce);
    }

    // Replies have no order: each is handled independently of the others.
    private Task DeliverAsync(IChannel channel, BasicDeliverEventArgs delivery, CancellationToken over)
    {
        var (wire, tag) = (WireMessage.Of(delivery), delivery.DeliveryTag);
        var work = Task.Run(() => WorkAsync(channel, wire, tag, over), CancellationToken.None);
        _underWay[work] = true;
        _ = work.ContinueWith(ended => _underWay.TryRemove(ended, out _), TaskScheduler.Default);
        return Task.CompletedTask;
    }

    private async Task WorkAsync(IChannel channel, WireMessage wire, ulong tag, CancellationToken over)
    {
        try
        {
            if (Guid.TryParse(wire.Properties.CorrelationId, out var request))
                await HandOverAsync(request, _reader.ReadReply(wire), over);
            else
                TopicsTelemetry.CountReplyAbandoned();
            await channel.BasicAckAsync(tag, multiple: false, over);
        }
        catch (Exception) when (over.IsCancellationRequested)
        {
            return; // unacknowledged, it comes again on the next channel
        }
        catch (Exception ex)
        {
            LogNotAcknowledged(wire.Properties.CorrelationId, BrokerFault.Describe(ex)); // the channel is about to be lost
        }
    }

    private async Task HandOverAsync(Guid request, EsbMessage reply, CancellationToken over)
    {
        var backoff = new Backoff(_time);
        while (true)
        {
            try
            {
                await _handler(request, await RedeemAsync(request, reply, over), over);
                return;
            }
            catch (Exception ex) when (!over.IsCancellationRequested)
            {
                LogNotTaken(request, ex);
                await backoff.WaitAsync(over);
            }
        }
    }

    // A body that is not kept any more is a failure of the request.
    private async Task<EsbMessage> RedeemAsync(Guid request, EsbMessage reply, CancellationToken over)
    {
        try
        {
            return await _claims.RedeemAsync(reply, over);
        }
        catch (EsbException ex) when (!ex.IsTransient)
        {
            return FaultReply.Of(reply with { Id = request }, ex, _time);
        }
    }

    [LoggerMessage(
        EventId = 1574,
        Level = LogLevel.Warning,
        Message = "The reply to {CorrelationId} was not acknowledged, and comes again: {Reason}"
    )]
    private partial void LogNotAcknowledged(string? correlationId, string reason);

    [LoggerMessage(EventId = 1575, Level = LogLevel.Warning, Message = "The reply to {MessageId} was not taken; it is offered again")]
    private partial void LogNotTaken(Guid messageId, Exception exception);
}
