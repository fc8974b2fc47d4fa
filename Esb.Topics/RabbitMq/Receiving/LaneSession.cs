using System.Threading.Channels;
using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Connections;
using Esb.Topics.RabbitMq.Wire;
using Microsoft.Extensions.Logging;
using RabbitMQ.Client;
using RabbitMQ.Client.Events;

namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>Handles the deliveries of one queue over one channel, until it has to release the queue: one by one in order, or those of
/// different turns at once.</summary>
/// <remarks>
/// It releases the queue by closing the channel, which makes the broker take back all unsettled messages in order: a message returned
/// separately would end up behind those already in flight.
/// </remarks>
internal sealed partial class LaneSession(
    Lane lane,
    DeliveryWork work,
    SemaphoreSlim gate,
    FreezeWatch freezes,
    TimeProvider time,
    ILogger logger
)
{
    // The broker closes the channel of a delivery that is not settled in time (30 min by default). The first limit is the age at which a
    // delivery is no longer started or retried, the second the age at which a running one is abandoned.
    private static readonly TimeSpan BeginLatest = TimeSpan.FromMinutes(10);
    private static readonly TimeSpan EndLatest = TimeSpan.FromMinutes(25);

    // Checks are 3 s apart: a consumer that has just come or gone may not be counted correctly yet.
    private const int MaxMisses = 2;

    // Prevents a tight loop when a handler returns every message.
    private static readonly TimeSpan ReturnPause = TimeSpan.FromMilliseconds(250);

    // Bounded by the prefetch.
    private readonly Channel<LaneArrival> _arrivals = Channel.CreateUnbounded<LaneArrival>(
        new UnboundedChannelOptions { SingleReader = true, SingleWriter = true }
    );

    // Those that are being worked on, in the order of their arrival.
    private readonly List<LaneArrival> _begun = [];
    private readonly CancellationTokenSource _handingOver = new();
    private readonly CancellationTokenSource _ended = new();
    private ChannelSession? _session;
    private int _freezesSeen = freezes.Count;
    private volatile bool _isConsuming;
    private volatile int _misses;

    /// <summary>True if the broker has this host's consumer.</summary>
    public bool IsConsuming => _isConsuming && _misses == 0 && _session!.IsOpen;

    /// <summary>True if the session was asked to release the lane.</summary>
    public bool HandsOver => _handingOver.IsCancellationRequested;

    /// <summary>Releases the lane after the deliveries in progress.</summary>
    public Task HandOverAsync() => _handingOver.CancelAsync();

    /// <summary>Takes the broker's report whether the queue has a consumer.</summary>
    /// <returns>True if the session may continue; false if its consumer was lost.</returns>
    public bool Hears(bool isConsumed)
    {
        _misses = isConsumed || !_isConsuming ? 0 : _misses + 1;
        return _misses < MaxMisses;
    }

    /// <summary>Releases the lane after the delivery in progress, and ends: another session takes its place.</summary>
    public Task EndAsync() => _ended.CancelAsync();

    /// <param name="connection">The connection for its channel.</param>
    /// <param name="consuming">Called when it consumes.</param>
    /// <param name="stopping">Releases the lane after the delivery in progress.</param>
    /// <returns>True if it released the lane by itself; false if the channel was lost.</returns>
    public async Task<bool> RunAsync(IConnection connection, Action consuming, CancellationToken stopping)
    {
        await using var channel = await connection.CreateChannelAsync(cancellationToken: stopping);
        _session = new ChannelSession(channel, lane.Number, time);
        using var leaving = CancellationTokenSource.CreateLinkedTokenSource(
            stopping,
            _handingOver.Token,
            _ended.Token,
            _session.Source.Lost
        );
        try
        {
            await ConsumeAsync(channel, stopping);
            _isConsuming = true;
            consuming();
            await WorkThroughAsync(leaving);
            return true;
        }
        catch (OperationCanceledException) when (leaving.IsCancellationRequested)
        {
            return !_session.Source.Lost.IsCancellationRequested;
        }
        catch (Exception) when (_isConsuming && !channel.IsOpen)
        {
            return false; // no delivery of the channel can be settled any more
        }
        finally
        {
            _isConsuming = false;
            if (channel.CloseReason is { Initiator: ShutdownInitiator.Peer, ReplyCode: Constants.PreconditionFailed } reason)
                LogLost(lane.Queue, BrokerFault.Describe(reason));
            await _session.CloseAsync();
        }
    }

    private async Task ConsumeAsync(IChannel channel, CancellationToken cancellationToken)
    {
        var consumer = new AsyncEventingBasicConsumer(channel);
        consumer.ReceivedAsync += (_, delivery) =>
        {
            _arrivals.Writer.TryWrite(
                new LaneArrival(
                    work.Seen.Came(WireMessage.Of(delivery, time.GetUtcNow()), _session!.Source),
                    delivery.DeliveryTag,
                    time.GetTimestamp()
                )
            );
            return Task.CompletedTask;
        };
        consumer.UnregisteredAsync += (_, _) => EndAsync(); // the queue was deleted
        await channel.BasicQosAsync(0, lane.Prefetch, global: false, cancellationToken);
        await channel.BasicConsumeAsync(lane.Queue, autoAck: false, consumer, cancellationToken);
    }

    // Ends when it is time to release the lane, and nothing is in progress any more.
    private async Task WorkThroughAsync(CancellationTokenSource leaving)
    {
        var turns = new LaneTurns(lane.AtOnce);
        try
        {
            while (true)
            {
                var arrival = await _arrivals.Reader.ReadAsync(leaving.Token);
                var turn = lane.AtOnce == 1 ? null : work.TurnOf(arrival.Message);
                await turns.BeginAsync(turn, () => WorkOrLeaveAsync(arrival, leaving), leaving.Token);
            }
        }
        finally
        {
            await turns.EndedAsync();
        }
    }

    // A delivery that is kept keeps what is behind it: the broker takes back both.
    private async Task WorkOrLeaveAsync(LaneArrival arrival, CancellationTokenSource leaving)
    {
        var isDone = false;
        try
        {
            isDone = await WorkAsync(arrival, leaving.Token);
        }
        finally
        {
            if (!isDone)
                await leaving.CancelAsync();
        }

        leaving.Token.ThrowIfCancellationRequested();
    }

    // Returns false when it is time to release the lane.
    private async Task<bool> WorkAsync(LaneArrival arrival, CancellationToken leaving)
    {
        while (MayBegin(arrival))
        {
            if (await TryWorkAsync(arrival, leaving))
            {
                await _session!.Channel.BasicAckAsync(arrival.Tag, multiple: false, CancellationToken.None);
                work.Seen.Settled(arrival.Message);
                return true;
            }

            await Task.Delay(ReturnPause, time, leaving); // in order, a message is returned by keeping it
        }

        return false;
    }

    private async Task<bool> TryWorkAsync(LaneArrival arrival, CancellationToken leaving)
    {
        await gate.WaitAsync(leaving);
        try
        {
            if (!MayBegin(arrival))
                return false; // the other lanes kept it waiting
            await ProveOwnershipAsync(leaving);
            leaving.ThrowIfCancellationRequested();
            var lost = _session!.Source.Lost;
            Begin(arrival);
            try
            {
                return await work.TrySettleAsync(arrival.Message, _session.Source, stopping: leaving, aborting: lost);
            }
            finally
            {
                End(arrival);
            }
        }
        finally
        {
            gate.Release();
        }
    }

    private void Begin(LaneArrival arrival)
    {
        lock (_begun)
        {
            _begun.Add(arrival);
            AbandonInTime();
        }
    }

    private void End(LaneArrival arrival)
    {
        lock (_begun)
        {
            _begun.Remove(arrival);
            AbandonInTime();
        }
    }

    // Requires the lock. The oldest delivery in progress decides.
    private void AbandonInTime()
    {
        var left = _begun.Count == 0 ? Timeout.InfiniteTimeSpan : EndLatest - time.GetElapsedTime(_begun.Min(arrival => arrival.At));
        _session!.LoseAfter(_begun.Count > 0 && left < TimeSpan.Zero ? TimeSpan.Zero : left);
    }

    private bool MayBegin(LaneArrival arrival) => time.GetElapsedTime(arrival.At) < BeginLatest;

    // After the process stood still, another host may work on its deliveries: only the broker knows.
    private async Task ProveOwnershipAsync(CancellationToken cancellationToken)
    {
        var count = freezes.Count;
        if (count == _freezesSeen)
            return;
        LogFrozen(lane.Queue);
        await _session!.Channel.QueueDeclarePassiveAsync(lane.Queue, cancellationToken);
        _freezesSeen = count;
    }

    [LoggerMessage(
        EventId = 1526,
        Level = LogLevel.Warning,
        Message = "This process was suspended; before it resumes {Queue} it asks the broker whether it is still the consumer"
    )]
    private partial void LogFrozen(string queue);

    [LoggerMessage(EventId = 1535, Level = LogLevel.Warning, Message = "The channel of {Queue} was closed, and is opened again: {Reason}")]
    private partial void LogLost(string queue, string reason);

    private sealed record LaneArrival(WireMessage Message, ulong Tag, long At);
}

/// <summary>A queue whose messages are handled in order.</summary>
/// <param name="Number">From 0.</param>
/// <param name="Queue">Its name on the broker.</param>
/// <param name="Prefetch">The maximum number of unsettled messages.</param>
/// <param name="AtOnce">The maximum number of messages that are worked on at once; 1 in strict order.</param>
internal sealed record Lane(int Number, string Queue, ushort Prefetch, int AtOnce = 1);
