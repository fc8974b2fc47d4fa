using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Topics;
using Esb.Delivery.Control;
using Esb.Delivery.Crashes;
using Esb.Delivery.Lanes;
using Esb.Delivery.SingleInstance;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Outbound;

/// <summary>Consumes the queue of an outbound endpoint: that of a single-instance endpoint while this host holds its lease, and after a
/// crash in its turn. Subscription and lease remain while settings are exchanged. Thread-safe.</summary>
internal sealed partial class EndpointConsumer : IAsyncDisposable
{
    private const string Drift = "ESB-CFG-QUEUEDRIFT";

    // The maximum time a start waits for the lease store. After it the other endpoints start regardless.
    private static readonly TimeSpan StartLimit = TimeSpan.FromSeconds(5);

    private readonly string _endpoint;
    private readonly bool _isByKey;
    private readonly DeliveryReceiver _receiver;
    private readonly IOutboundAdapter _adapter;
    private readonly DeliveryState _state;
    private readonly Patience _patience;
    private readonly DeliveryServices _services;
    private readonly LeaseHolder? _holder;
    private readonly SemaphoreSlim _changing = new(1, 1);
    private readonly TaskCompletionSource _subscribed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly CancellationTokenSource _stopping = new();
    private readonly ILogger _logger;
    private volatile EndpointSettings _settings;
    private volatile ITopicSubscription? _subscription;
    private volatile string? _startFailure; // of a single-instance endpoint, when this host last held the lease
    private volatile bool _isHeld;
    private Task _opening = Task.CompletedTask;
    private ReleaseTimer? _releases;

    /// <param name="settings">The endpoint, which has a queue.</param>
    /// <param name="receiver">Takes the deliveries.</param>
    /// <param name="adapter">The external system.</param>
    /// <param name="state">The state of the endpoint.</param>
    /// <param name="patience">Retries what must succeed.</param>
    /// <param name="services">The services that all endpoints share.</param>
    public EndpointConsumer(
        EndpointSettings settings,
        DeliveryReceiver receiver,
        IOutboundAdapter adapter,
        DeliveryState state,
        Patience patience,
        DeliveryServices services
    )
    {
        (_settings, _receiver, _adapter, _state, _patience, _services) = (settings, receiver, adapter, state, patience, services);
        (_endpoint, _isByKey) = (settings.Config.Name, settings.Config.Delivery == DeliveryMode.OrderedByKey);
        _logger = services.Loggers.CreateLogger<EndpointConsumer>();
        if (settings.Config.SingleInstance && services.Singles.AreShared)
            _holder = services.Singles.Hold(_endpoint, RunAsync);
    }

    /// <summary>True if messages can arrive.</summary>
    public bool IsLive => _subscription?.IsLive == true && !_services.Quarantine.IsMarked(_endpoint);

    /// <summary>The reason why messages cannot arrive; null if none is known.</summary>
    public string? Reason => _subscription?.Reason ?? _holder?.Trouble;

    /// <summary>True if another host may hold the lease.</summary>
    public bool IsStandby => _holder is { IsHeld: false };

    /// <summary>True if it consumes, or retries to.</summary>
    public bool HasStarted => _subscription is not null || _holder is not null || !_opening.IsCompleted;

    /// <summary>The reason why the endpoint could not start under the last lease; null if it could.</summary>
    public string? StartFailure => _startFailure;

    /// <summary>True if the endpoint cannot run as configured.</summary>
    public bool HasFailed => _startFailure is not null || _subscription?.Reason?.StartsWith(Drift, StringComparison.Ordinal) == true;

    /// <summary>True while the queues are released to be replaced.</summary>
    public bool IsHeld => _isHeld;

    public async Task StartAsync(CancellationToken cancellationToken)
    {
        if (_holder is null && !_services.Quarantine.IsCareful(_endpoint))
        {
            await SubscribeAsync(lease: null, opening: null, cancellationToken);
            return;
        }

        if (_holder is null)
        {
            await _services.Transport.DeclareAsync(_settings.Subscription, cancellationToken); // messages published meanwhile wait there
            _opening = OpenInTurnAsync();
            return;
        }

        // Messages published from here on reach the queue, on this host or on the host that holds the lease.
        _holder.Start();
        await Task.WhenAny(_subscribed.Task, _holder.StandsBy, Task.Delay(StartLimit, _services.Time, cancellationToken));
    }

    /// <summary>Ends consuming after the deliveries under way, and releases the lease.</summary>
    public async Task StopAsync()
    {
        await _stopping.CancelAsync();
        await _opening;
        if (_holder is null)
            await UnsubscribeAsync();
        else
            await _holder.DisposeAsync();
    }

    /// <summary>Applies the number of deliveries, the prefetch and the pause of other settings. If one of them changed, deliveries under
    /// way end first.</summary>
    public Task TuneAsync(EndpointSettings next, CancellationToken cancellationToken) =>
        ChangeAsync(
            () =>
            {
                var (before, after) = (_settings.Subscription, next.Subscription);
                var isSame =
                    (after.Concurrency, after.Prefetch, next.IsPaused) == (before.Concurrency, before.Prefetch, _settings.IsPaused);
                _settings = next;
                return !isSame;
            },
            cancellationToken
        );

    /// <summary>Stops consuming the queues after the in-flight deliveries, or resumes unless an operator has paused the
    /// endpoint.</summary>
    public Task HoldAsync(bool isHeld, CancellationToken cancellationToken) =>
        ChangeAsync(
            () =>
            {
                _isHeld = isHeld;
                return !_settings.IsPaused;
            },
            cancellationToken
        );

    public async ValueTask DisposeAsync()
    {
        if (_holder is not null)
            await _holder.DisposeAsync();
        _changing.Dispose();
        _stopping.Dispose();
    }

    private async Task ChangeAsync(Func<bool> change, CancellationToken cancellationToken)
    {
        await _changing.WaitAsync(cancellationToken);
        try
        {
            if (change() && _subscription is { } subscription)
                await TuneAsync(subscription, cancellationToken);
        }
        finally
        {
            _changing.Release();
        }
    }

    // Runs while this host holds the lease. Deliveries in flight at the loss of the lease are aborted and return to the queue.
    private async Task RunAsync(HeldLease lease, CancellationToken ending)
    {
        try
        {
            await StartHeldAsync(lease, ending);
            _subscribed.TrySetResult();
            await Task.Delay(Timeout.Infinite, ending).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
        finally
        {
            await UnsubscribeAsync();
            _state.Trouble = null; // reported by the host that delivers next
        }
    }

    private async Task StartHeldAsync(HeldLease lease, CancellationToken ending)
    {
        if (_adapter is IFencingAdapter fencing)
            await _patience.InsistAsync(() => TryStartAsync(() => fencing.RaiseFenceAsync(lease.Token, ending)), ending);
        await TryStartAsync(() => OpenAsync(lease, ending));
        _startFailure = null;
    }

    // Whatever may be tried again is no failure only if the external system is unreachable.
    private async Task TryStartAsync(Func<Task> start)
    {
        try
        {
            await start();
        }
        catch (Exception ex) when (ex is not (OperationCanceledException or EsbException { Kind: FaultKind.Unavailable }))
        {
            _startFailure = ex.Message;
            throw;
        }
    }

    private async Task OpenInTurnAsync()
    {
        try
        {
            await OpenAsync(lease: null, _stopping.Token);
        }
        catch (OperationCanceledException) when (_stopping.IsCancellationRequested)
        {
            // The host stopped before the turn of this endpoint.
        }
        catch (EsbException ex)
        {
            LogNotOpened(_endpoint, ex);
        }
    }

    private async Task OpenAsync(HeldLease? lease, CancellationToken cancellationToken)
    {
        using var opening = await _services.Quarantine.EnterAsync(_endpoint, cancellationToken);
        var holdsMessages = opening is not null && await HoldsMessagesAsync(cancellationToken);
        await SubscribeAsync(lease, opening, cancellationToken);
        if (opening is not null)
            await opening.WatchAsync(holdsMessages, () => _subscription?.IsLive == true, cancellationToken);
    }

    private async Task<bool> HoldsMessagesAsync(CancellationToken cancellationToken)
    {
        try
        {
            return await _services.Transport.CountWaitingAsync(_settings.Subscription, cancellationToken) > 0;
        }
        catch (EsbException)
        {
            return false; // the broker is unreachable, which the transport reports; the endpoint opens all the same
        }
    }

    private async Task SubscribeAsync(HeldLease? lease, EndpointOpening? opening, CancellationToken cancellationToken)
    {
        await _changing.WaitAsync(cancellationToken);
        try
        {
            var opensPaused = _settings.IsPaused; // the transport learns of the pause only after it has subscribed
            DeliveryHandler work = (delivery, token) => _receiver.ReceiveAsync(delivery, lease, token);
            DeliveryHandler guarded = opening is null ? work : (delivery, token) => opening.WorkAsync(() => work(delivery, token), token);
            // Before the guard: the pause waits for deliveries, and what the guard holds waits for the end of this method.
            DeliveryHandler handler = (delivery, token) =>
                (_isHeld && opening is not null) || (opensPaused && _settings.IsPaused)
                    ? ValueTask.FromResult(Settlement.Return)
                    : guarded(delivery, token);
            var subscription = await _services.Transport.SubscribeAsync(_settings.Subscription, handler, cancellationToken);
            _subscription = subscription;
            if (opensPaused || _isHeld)
                await TuneAsync(subscription, cancellationToken);
            if (_isByKey)
                _releases = new ReleaseTimer(
                    _endpoint,
                    _services.Parking,
                    _services.Queues,
                    _services.Time,
                    _services.Loggers.CreateLogger<ReleaseTimer>()
                );
        }
        finally
        {
            _changing.Release();
        }
    }

    private async Task UnsubscribeAsync()
    {
        var (releases, subscription) = (_releases, _subscription);
        (_releases, _subscription) = (null, null);
        if (releases is not null)
            await releases.DisposeAsync();
        if (subscription is not null)
            await subscription.DisposeAsync();
    }

    // The change would wait for deliveries that wait for the external system or an operator: they return to the queue and are redelivered.
    private async Task TuneAsync(ITopicSubscription subscription, CancellationToken cancellationToken)
    {
        await _receiver.InterruptAsync();
        try
        {
            await subscription.TuneAsync(
                _settings.Subscription.Concurrency,
                _settings.Subscription.Prefetch,
                _settings.IsPaused || _isHeld,
                cancellationToken
            );
        }
        finally
        {
            _receiver.Resume();
        }
    }

    [LoggerMessage(EventId = 2456, Level = LogLevel.Error, Message = "Endpoint {Endpoint} did not start; the others run")]
    private partial void LogNotOpened(string endpoint, Exception exception);
}
