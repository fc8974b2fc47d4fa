using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Connections;
using Esb.Topics.RabbitMq.Farm;
using Esb.Topics.RabbitMq.Wire;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>Receives in no guaranteed order, several messages at once over one channel, and checks periodically that the broker agrees that
/// it consumes.</summary>
internal sealed class ParallelReceiver : IReceiver
{
    private static readonly TimeSpan WatchInterval = TimeSpan.FromSeconds(3);

    // Prevents a tight loop with the broker when a handler returns every message.
    private static readonly TimeSpan ReturnPause = TimeSpan.FromMilliseconds(250);

    // Once a quorum queue has 32 unapplied commands, the broker defers further commands of a channel (quorum_commands_soft_limit), and
    // forgets them when the channel is closed. Finished messages would then be redelivered: so the queue is given time to apply the
    // returns.
    private const int FewReturned = 16;
    private static readonly TimeSpan TimeToApply = TimeSpan.FromMilliseconds(250);

    private readonly Subscription _subscription;
    private readonly ReceiverContext _context;
    private readonly DeliveryWork _work;
    private readonly EndpointPresence _presence;
    private readonly ushort _prefetch;
    private readonly DeliveryWorkers _workers;
    private readonly ConsumerWatch _watch;
    private readonly ReceiverState _state;
    private readonly CancellationTokenSource _stopping = new();
    private readonly Task _running;
    private volatile ParallelSession? _confirmed;

    public ParallelReceiver(Subscription subscription, ReceiverContext context, DeliveryWork work, EndpointPresence presence)
    {
        (_subscription, _context, _work, _presence) = (subscription, context, work, presence);
        _prefetch = (ushort)Math.Max(subscription.Prefetch, subscription.Concurrency);
        _workers = new DeliveryWorkers(subscription.Concurrency, WorkAsync);
        _watch = new ConsumerWatch(subscription.Endpoint, context.Names, new ConsumerCounts(context.Connection), context.Farm.Members);
        _state = new ReceiverState(subscription.Endpoint, context.Logger);
        _running = BrokerLoop.RunAsync(context.Connection, ConsumeAsync, context.Time, _stopping.Token);
    }

    public bool IsLive => _confirmed is { IsOpen: true, Ended.IsCompleted: false };

    public string? Reason => IsLive ? null : _state.Reason ?? "not consuming";

    public bool HasTried => _state.FirstAttempt.IsCompleted;

    public Task WaitForFirstAttemptAsync(CancellationToken cancellationToken) => _state.FirstAttempt.WaitAsync(cancellationToken);

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        await _running;
        _workers.Stop();
        await _workers.EndedAsync(); // of channels that were lost before
    }

    private async Task ConsumeAsync(IConnection connection, Backoff backoff, CancellationToken stopping)
    {
        ParallelSession? session = null;
        try
        {
            await _context.Setup.ApplyAsync(connection, _subscription, stopping);
            session = await ParallelSession.OpenAsync(
                connection,
                _context.Names.Endpoint(_subscription.Endpoint),
                _prefetch,
                _workers,
                _work.Seen,
                _context.Time,
                stopping
            );
            backoff.Reset();
            _presence.Consumes();
            _state.IsInterrupted(await WatchAsync(session, stopping));
        }
        catch (Exception ex)
        {
            if (!stopping.IsCancellationRequested)
                _state.IsInterrupted(ex, connection.IsOpen, backoff); // a closing connection fails in many ways
        }
        finally
        {
            _confirmed = null;
            _presence.Rests();
            if (session is not null)
                await LeaveAsync(session, stopping);
        }
    }

    private async Task<string> WatchAsync(ParallelSession session, CancellationToken stopping)
    {
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(stopping);
        var watching = _watch.RunAsync(
            session,
            isConsuming => Confirm(session, isConsuming),
            () => Task.Delay(WatchInterval, _context.Time, ending.Token),
            ending.Token
        );
        try
        {
            return await await Task.WhenAny(session.Ended, watching);
        }
        finally
        {
            await ending.CancelAsync();
            await ((Task)watching).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    private void Confirm(ParallelSession session, bool isConsuming)
    {
        _confirmed = isConsuming ? session : null;
        if (isConsuming)
            _state.Consumes();
    }

    // When the endpoint stops, work in progress may finish. Waiting messages return first, for other hosts to handle.
    private async Task LeaveAsync(ParallelSession session, CancellationToken stopping)
    {
        try
        {
            if (!stopping.IsCancellationRequested)
                return;
            await session.CancelAsync();
            var waiting = _workers.Stop().Where(arrival => arrival.Session == session).ToList();
            foreach (var arrival in waiting)
                await session.Acks.ReturnAsync(arrival.Place);
            await _workers.EndedAsync();
            await session.Acks.DrainAsync();
            if (waiting.Count > FewReturned)
                await Task.Delay(TimeToApply, _context.Time, CancellationToken.None);
        }
        finally
        {
            await session.DisposeAsync();
        }
    }

    private async Task WorkAsync(Arrival arrival)
    {
        var session = arrival.Session;
        var isDone = !session.Leaving.IsCancellationRequested && await TryWorkAsync(arrival, session); // no new work while leaving
        if (isDone)
            await AcknowledgeAsync(arrival);
        else
            await session.Acks.ReturnAsync(arrival.Place);
    }

    private ValueTask AcknowledgeAsync(Arrival arrival)
    {
        if (arrival.Session.IsOpen)
            _work.Seen.Settled(arrival.Message); // otherwise it is redelivered
        return arrival.Session.Acks.DoneAsync(arrival.Place);
    }

    private async Task<bool> TryWorkAsync(Arrival arrival, ParallelSession session)
    {
        try
        {
            if (await _work.TrySettleAsync(arrival.Message, session.Channel.Source, session.Leaving, session.Aborting))
                return true;
            await Task.Delay(ReturnPause, _context.Time, session.Leaving);
        }
        catch (OperationCanceledException) when (session.Leaving.IsCancellationRequested)
        {
            // The delivery is returned: the endpoint stops, or the channel is lost.
        }

        return false;
    }
}
