using System.Collections.Concurrent;
using System.Collections.Immutable;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Topics;
using Esb.Topics.ClaimChecks;
using Esb.Topics.RabbitMq.Connections;
using Esb.Topics.RabbitMq.Publishing;
using Esb.Topics.RabbitMq.Wire;
using Microsoft.Extensions.Logging;
using RabbitMQ.Client;
using RabbitMQ.Client.Events;

namespace Esb.Topics.RabbitMq.Replies;

/// <summary>Delivers replies to their requesters: one queue for all requests of this process. Thread-safe.</summary>
internal sealed partial class ReplyQueue : IAsyncDisposable
{
    private static readonly TimeSpan DeclareTimeout = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan ProbeTimeout = TimeSpan.FromSeconds(5);

    private readonly ConcurrentDictionary<string, ImmutableArray<WaitingRequest>> _waiting = new(StringComparer.OrdinalIgnoreCase);
    private readonly RequestClock _clock;
    private readonly BrokerConnection _connection;
    private readonly ConfirmedPublisher _publisher;
    private readonly RabbitMqNames _names;
    private readonly WireReader _reader;
    private readonly BodyClaims _claims;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly BrokerConsumer _consumer;
    private volatile Absence? _absence;

    public ReplyQueue(
        BrokerConnection connection,
        ConfirmedPublisher publisher,
        RabbitMqNames names,
        WireReader reader,
        BodyClaims claims,
        TimeProvider time,
        ILogger logger
    )
    {
        (_connection, _publisher, _names, _reader, _claims, _time, _logger) = (connection, publisher, names, reader, claims, time, logger);
        _clock = new RequestClock(time);
        _consumer = new BrokerConsumer(connection, DeclareAsync, DeliverAsync, time, logger);
    }

    /// <summary>Returns the name of the queue, which requests carry; null if it cannot be read. After a reconnect it exists a moment later
    /// than the connection.</summary>
    public async Task<string?> FindNameAsync(CancellationToken cancellationToken)
    {
        if (_consumer.Queue is { } name)
        {
            if (_absence is not null)
                _absence = null;
            return name;
        }

        if (_connection.Current is not { } connection)
            return null;
        var absence =
            _absence is { } known && known.Connection == connection ? known : _absence = new Absence(connection, _time.GetTimestamp());
        try
        {
            var left = DeclareTimeout - _time.GetElapsedTime(absence.Since); // shared: a later caller does not wait anew
            return left > TimeSpan.Zero ? await _consumer.WaitForQueueAsync(left, cancellationToken) : null;
        }
        catch (TimeoutException)
        {
            return null;
        }
    }

    /// <summary>Publishes a request. Returns when it is confirmed, or decided by its reply, with a task for the reply.</summary>
    public async Task<Task<EsbMessage>> SendAsync(
        EsbMessage request,
        Func<ValueTask<PublishResult>> publish,
        TimeSpan timeout,
        CancellationToken cancellationToken
    )
    {
        var waiting = Begin(request.Id.ToString(), timeout);
        try
        {
            var result = await publish();
            var isDecided = result.Outcome == PublishOutcome.Refused ? waiting.Task.IsCompletedSuccessfully : waiting.Task.IsCompleted;
            if (result.Outcome != PublishOutcome.Confirmed && !isDecided)
                throw TopicFaults.Unavailable(request.Subject, result);
            var reply = WaitAsync(request, waiting, timeout, cancellationToken);
            if (result.Outcome != PublishOutcome.Confirmed)
                await reply; // a reply proves that it was published, a failure does not
            return reply;
        }
        catch
        {
            End(waiting);
            throw;
        }
    }

    /// <summary>Begins to wait for the reply to a request that another way than the broker brings to its receiver.</summary>
    /// <param name="request">The request.</param>
    /// <param name="queue">The name of this queue, as <see cref="FindNameAsync"/> has told.</param>
    /// <param name="timeout">How long a reply is of use.</param>
    public AwaitedReply Await(EsbMessage request, string queue, TimeSpan timeout)
    {
        var waiting = Begin(request.Id.ToString(), timeout);
        var address = new ReplyAddress(queue, waiting.Id, _time.GetUtcNow() + timeout);
        return new AwaitedReply(address.ToString(), token => WaitAsync(request, waiting, timeout, token), () => End(waiting));
    }

    /// <summary>Sends a message to this queue and waits for its return, up to 5 s for each way; returns the reason if it fails.</summary>
    public async Task<string?> ProbeAsync(CancellationToken cancellationToken)
    {
        if (await FindNameAsync(cancellationToken) is not { } queue)
            return "replies cannot be received";
        var id = Guid.NewGuid().ToString();
        var back = Begin(id, 2 * ProbeTimeout);
        try
        {
            var result = await _publisher.SendAsync(queue, WireWriter.Probe(id, ProbeTimeout), ReadOnlyMemory<byte>.Empty, ProbeTimeout);
            if (result.Outcome != PublishOutcome.Confirmed)
                return result.Reason;
            await back.Task.WaitAsync(ProbeTimeout, _time, cancellationToken);
            return null;
        }
        catch (TimeoutException)
        {
            return "what is confirmed does not arrive";
        }
        catch (EsbException ex)
        {
            return ex.Message; // the queue was lost meanwhile
        }
        finally
        {
            End(back);
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _consumer.DisposeAsync();
        _clock.Dispose();
    }

    private async Task<EsbMessage> WaitAsync(
        EsbMessage request,
        WaitingRequest waiting,
        TimeSpan timeout,
        CancellationToken cancellationToken
    )
    {
        try
        {
            var message = await waiting.Task.WaitAsync(cancellationToken);
            return await _claims.RedeemAsync(message, cancellationToken) with { CorrelationId = request.CorrelationId };
        }
        catch (TimeoutException)
        {
            throw TopicFaults.RequestTimeout(request.Subject, timeout);
        }
        finally
        {
            End(waiting);
        }
    }

    // The time begins with the publish. A repeated request with the same id shares the pending reply but keeps its own time-out.
    private WaitingRequest Begin(string id, TimeSpan timeout)
    {
        var request = new WaitingRequest(id);
        _waiting.AddOrUpdate(id, static (_, added) => [added], static (_, others, added) => others.Add(added), request);
        _clock.Add(request, timeout);
        return request;
    }

    private void End(WaitingRequest request)
    {
        _clock.Remove(request);
        while (_waiting.TryGetValue(request.Id, out var waiting))
        {
            var others = waiting.Remove(request);
            if (others.IsEmpty ? _waiting.TryRemove(new(request.Id, waiting)) : _waiting.TryUpdate(request.Id, others, waiting))
                return;
        }
    }

    private async Task<ConsumerQueue> DeclareAsync(IChannel channel, CancellationToken cancellationToken)
    {
        // A new name each time: the broker may still hold the exclusive queue of a lost connection.
        var name = _names.Replies(Guid.NewGuid());
        await channel.QueueDeclareAsync(name, durable: false, exclusive: true, autoDelete: true, cancellationToken: cancellationToken);
        channel.ChannelShutdownAsync += (_, _) => FailWaitingAsync();
        return new ConsumerQueue(name, Prefetch: 0);
    }

    private Task DeliverAsync(IChannel channel, BasicDeliverEventArgs delivery, CancellationToken over)
    {
        var correlation = delivery.BasicProperties.CorrelationId;
        if (correlation is null || !_waiting.TryGetValue(correlation, out var waiting))
        {
            TopicsTelemetry.CountReplyAbandoned();
            LogAbandoned(correlation);
            return Task.CompletedTask;
        }

        var wire = WireMessage.Of(delivery);
        var reply = _reader.ReadReply(wire);
        foreach (var request in waiting)
            request.TrySetResult(reply);
        return Task.CompletedTask;
    }

    // Replies in flight are lost with the queue.
    private Task FailWaitingAsync()
    {
        foreach (var waiting in _waiting.Values.SelectMany(requests => requests))
            waiting.TrySetException(TopicFaults.ReplyLost());
        return Task.CompletedTask;
    }

    // The time since which a connection is known to have no queue.
    private sealed record Absence(IConnection Connection, long Since);

    [LoggerMessage(EventId = 1514, Level = LogLevel.Debug, Message = "The reply to {CorrelationId} was dropped: its request has ended")]
    private partial void LogAbandoned(string? correlationId);
}
