using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Farm;
using Esb.Topics.RabbitMq.Topology;
using Esb.Topics.RabbitMq.Wire;

namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>A subscription whose limits can change: each change stops a receiver and starts a new one.</summary>
internal sealed class RabbitMqSubscription : ITopicSubscription
{
    // After this time the subscription reports its reason to the caller, and keeps trying.
    private static readonly TimeSpan LongestFirstAttempt = TimeSpan.FromSeconds(15);

    private readonly ReceiverContext _context;
    private readonly DeliveryWork _work;
    private readonly EndpointPresence _presence;
    private readonly CancellationTokenSource _stopping = new();
    private readonly Task _binding;
    private readonly SemaphoreSlim _tuning = new(1, 1);
    private Subscription _subscription;
    private volatile IReceiver? _receiver;
    private volatile bool _isPaused;
    private volatile bool _hasTried;
    private volatile bool _isDisposed;

    public RabbitMqSubscription(
        Subscription subscription,
        ReceiverContext context,
        DeliveryWork work,
        TopologyUpkeep upkeep,
        StaleBindings stale
    )
    {
        (_subscription, _context, _work) = (subscription, context, work);
        _presence = new EndpointPresence(context.Farm, subscription);
        _receiver = Receive(subscription);
        _binding = Task.WhenAll(
            upkeep.RunAsync(context.Connection, MayDeclare, _stopping.Token),
            stale.RunAsync(context.Connection, _stopping.Token)
        );
    }

    public bool IsLive => _receiver?.IsLive == true;

    public bool IsPaused => _isPaused;

    public string? Reason => _receiver?.Reason;

    /// <summary>True if its queue has been declared, the declaration failed, or the queue is no longer wanted: before that, messages
    /// published for it may find no queue. Once true it stays true.</summary>
    public bool HasTried => _hasTried || (_hasTried = _isPaused || _isDisposed || _receiver?.HasTried == true);

    /// <summary>Waits until the first attempt to consume has succeeded or failed, for 15 s at most; does not wait while there is no
    /// connection.</summary>
    public async Task WaitForFirstAttemptAsync(CancellationToken cancellationToken)
    {
        if (_receiver is not { } receiver || _context.Connection.Current is null)
            return;
        try
        {
            await receiver.WaitForFirstAttemptAsync(cancellationToken).WaitAsync(LongestFirstAttempt, _context.Time, cancellationToken);
        }
        catch (TimeoutException)
        {
            // The subscription keeps trying.
        }
    }

    public Task TuneAsync(int concurrency, int prefetch, bool isPaused, CancellationToken cancellationToken) =>
        ChangeAsync(_subscription with { Concurrency = concurrency, Prefetch = prefetch }, isPaused).WaitAsync(cancellationToken);

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync(); // first: a running change may wait for the broker
        await _tuning.WaitAsync();
        try
        {
            if (_isDisposed)
                return;
            _isDisposed = true;
            await _binding;
            if (_receiver is { } receiver)
                await receiver.DisposeAsync();
            _presence.Dispose();
        }
        finally
        {
            _tuning.Release();
        }
    }

    // A consuming host is never in the middle of a migration, which would have moved the bindings. If a host does not hear the farm, the
    // farm may consider it gone and have unbound its patterns on purpose.
    private bool MayDeclare() => IsLive && _context.Farm.Members.HearingFor > TimeSpan.Zero;

    private async Task ChangeAsync(Subscription changed, bool isPaused)
    {
        await _tuning.WaitAsync();
        try
        {
            if (_isDisposed || (changed == _subscription && isPaused == _isPaused))
                return;
            (_subscription, _isPaused) = (changed, isPaused);
            if (_receiver is { } old)
            {
                await old.DisposeAsync(); // first: two receivers of one host would overtake each other
                _receiver = null;
            }

            if (isPaused)
                return;
            _receiver = Receive(changed);
            await WaitForFirstAttemptAsync(_stopping.Token);
        }
        catch (OperationCanceledException) when (_stopping.IsCancellationRequested)
        {
            // Disposed meanwhile.
        }
        finally
        {
            _tuning.Release();
        }
    }

    private IReceiver Receive(Subscription subscription) =>
        subscription.SingleActive || subscription.Lanes is not null
            ? new OrderedReceiver(subscription, _context, _work, _presence)
            : new ParallelReceiver(subscription, _context, _work, _presence);
}
