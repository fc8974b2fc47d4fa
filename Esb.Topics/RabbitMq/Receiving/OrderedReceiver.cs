using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Connections;
using Esb.Topics.RabbitMq.Farm;
using Esb.Topics.RabbitMq.Topology;
using Esb.Topics.RabbitMq.Wire;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>Receives in order: the one queue of an endpoint, or each of its lanes, with a single active consumer across all
/// hosts.</summary>
/// <remarks>For the reasons not to use the bus library, see docs/adr/0003.</remarks>
internal sealed class OrderedReceiver : IReceiver
{
    // The same for every host at all times, whatever the subscription says. A quorum queue puts returned messages behind those returned
    // before: the next consumer has to receive all of them at once (https://github.com/rabbitmq/rabbitmq-server/issues/10499).
    private const ushort Prefetch = 32;

    private readonly Subscription _subscription;
    private readonly EndpointSetup _setup;
    private readonly LaneConsumer[] _lanes;
    private readonly EndpointPresence _presence;
    private readonly SemaphoreSlim _gate;
    private readonly ReceiverState _state;
    private readonly CancellationTokenSource _stopping = new();
    private readonly Lock _announcing = new();
    private readonly Task _running;
    private bool _isAnnounced;

    public OrderedReceiver(Subscription subscription, ReceiverContext context, DeliveryWork work, EndpointPresence presence)
    {
        (_subscription, _setup, _presence) = (subscription, context.Setup, presence);
        _gate = new SemaphoreSlim(subscription.Lanes is null ? 1 : subscription.Concurrency);
        _lanes =
        [
            .. Enumerable
                .Range(0, subscription.Lanes ?? 1)
                .Select(number => new LaneConsumer(
                    () =>
                        new Lane(
                            number,
                            context.Names.LanesOf(subscription).ElementAt(number),
                            Prefetch,
                            AtOnce: subscription.TurnOf is null ? 1 : Prefetch
                        ),
                    work,
                    _gate,
                    context.Freezes,
                    context.Time,
                    context.Logger
                )),
        ];
        _state = new ReceiverState(subscription.Endpoint, context.Logger);
        _running = Task.WhenAll(
            BrokerLoop.RunAsync(context.Connection, ConsumeAsync, context.Time, _stopping.Token),
            new LaneBalance(subscription.Endpoint, _lanes, context.Farm, context.Time).RunAsync(_stopping.Token),
            new LaneWatch(_lanes, new ConsumerCounts(context.Connection).CountAsync, _state.IsInterrupted, context.Time).RunAsync(
                _stopping.Token
            )
        );
    }

    public bool IsLive => _lanes.All(lane => lane.IsLive);

    public string? Reason => IsLive ? null : _state.Reason ?? "not consuming";

    public bool HasTried => _state.FirstAttempt.IsCompleted;

    public Task WaitForFirstAttemptAsync(CancellationToken cancellationToken) => _state.FirstAttempt.WaitAsync(cancellationToken);

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        await _running;
        _gate.Dispose();
        _stopping.Dispose();
    }

    private async Task ConsumeAsync(IConnection connection, Backoff backoff, CancellationToken stopping)
    {
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(stopping);
        var lanes = new List<Task>();
        try
        {
            await _setup.ApplyAsync(connection, _subscription, stopping);
            lanes.AddRange(_lanes.Select(lane => lane.RunAsync(connection, isAgain => Note(isAgain, backoff), ending.Token)));
            await await Task.WhenAny(lanes); // if one lane fails, all start over
            if (!stopping.IsCancellationRequested)
                _state.IsInterrupted("broker away");
        }
        catch (Exception ex) when (!stopping.IsCancellationRequested)
        {
            _state.IsInterrupted(ex, connection.IsOpen, backoff);
        }
        finally
        {
            Rest();
            await ending.CancelAsync();
            await Task.WhenAll(lanes).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing); // the first failure has been reported
        }
    }

    private void Note(bool isAgain, Backoff backoff)
    {
        if (!IsLive)
            return;
        backoff.Reset();
        _state.Consumes();
        Announce(isAgain);
    }

    // A lane that only let others go first is not announced, unless that happened before all lanes were open: then no host knows of this
    // one yet.
    private void Announce(bool isAgain)
    {
        lock (_announcing)
        {
            if (isAgain && _isAnnounced)
                return;
            _isAnnounced = true;
            _presence.Consumes();
        }
    }

    private void Rest()
    {
        lock (_announcing)
        {
            _isAnnounced = false;
            _presence.Rests();
        }
    }
}
