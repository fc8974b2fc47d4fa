using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Delivery.Attempts;
using Esb.Delivery.Control;
using Esb.Delivery.Crashes;
using Esb.Delivery.Lanes;
using Esb.Delivery.Modes;
using Esb.Delivery.Outages;
using Esb.Delivery.SingleInstance;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Outbound;

/// <summary>Runs one outbound endpoint: its subscription, its instance pool, and their changes at run time. Its <see cref="IDeliveryMode"/>
/// settles each message.</summary>
/// <remarks>Thread-safe: <c>processingThreads</c> deliveries run concurrently; each rents one of <c>poolSize</c> instances.</remarks>
internal sealed partial class DeliveryController : IAsyncDisposable
{
    // The maximum time a start waits for the lease store. After it the other endpoints start regardless.
    private const string Drift = "ESB-CFG-QUEUEDRIFT";

    private static readonly TimeSpan StartLimit = TimeSpan.FromSeconds(5);

    private readonly OutboundEndpointConfig _config;
    private readonly string _type;
    private readonly EndpointSender _sender;
    private readonly DeliveryServices _services;
    private readonly DeliveryState _state;
    private readonly OutageGate _gate;
    private readonly Patience _patience;
    private readonly DeliveryJournal _journal;
    private readonly IDeliveryMode _mode;
    private readonly DeliveryReceiver _receiver;
    private readonly FreezeWatch _freezes;
    private readonly EndpointTuning _configured;
    private readonly SendPace _pace;
    private readonly SemaphoreSlim _changing = new(1, 1);
    private volatile EndpointTuning _tuned;
    private volatile EndpointTuning _current;
    private volatile ITopicSubscription? _subscription;
    private readonly TaskCompletionSource _subscribed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly LeaseHolder? _holder;
    private volatile string? _startFailure; // of a single-instance endpoint, when this host last held the lease
    private readonly CancellationTokenSource _stopping = new();
    private readonly ILogger _logger;
    private Task _opening = Task.CompletedTask;
    private volatile bool _isHeld;
    private ReleaseTimer? _releases;

    /// <param name="model">The endpoint.</param>
    /// <param name="sender">Sends to the external system.</param>
    /// <param name="services">The services that all endpoints share.</param>
    /// <param name="before">The state carried over from the previous settings; null when the host starts.</param>
    /// <param name="tuned">The settings that an operator tuned; null if none.</param>
    /// <param name="absence">The reason why this host does not deliver; null if it does.</param>
    public DeliveryController(
        OutboundModel model,
        EndpointSender sender,
        DeliveryServices services,
        EndpointHandover? before = null,
        EndpointTuning? tuned = null,
        string? absence = null
    )
    {
        Absence = absence;
        _tuned = tuned ?? new EndpointTuning();
        var applied = EndpointTunings.Applicable(model.Config, _tuned);
        var (config, type, filter) = (EndpointTunings.Over(model.Config, applied), model.Type, model.Filter);
        Model = model;
        (_config, _type, _sender, _services) = (config, type, sender, services);
        _configured = EndpointTunings.Of(model.Config);
        _current = EndpointTunings.Change(model.Config, _configured, applied);
        var (time, loggers) = (services.Time, services.Loggers);
        _logger = loggers.CreateLogger<DeliveryController>();
        _state = before?.State ?? new DeliveryState(time);
        _gate = new OutageGate(config.CircuitBreaker, time);
        _pace = new SendPace(time) { Rate = _current.Rate ?? 0 };
        _freezes = new FreezeWatch(time);
        _patience = new Patience(config.Name, _state, time, loggers.CreateLogger<Patience>());
        _journal = new DeliveryJournal(config.Name, services.Audit, _state, _patience, time, loggers.CreateLogger<DeliveryJournal>())
        {
            Alerts = services.Alerts,
        };
        _mode = DeliveryModes.Create(config, sender, _gate, _state, _journal, _patience, _freezes, _pace, services);
        _receiver = new DeliveryReceiver(
            config,
            services.Transport.System,
            filter,
            _mode,
            _state,
            _journal,
            services.AuditGate,
            time,
            loggers.CreateLogger<DeliveryReceiver>()
        );
        if (config is { SingleInstance: true, HasQueue: true } && services.Singles.AreShared)
            _holder = services.Singles.Hold(config.Name, RunAsync);
    }

    public OutboundEndpointConfig Config => _config;

    /// <summary>The reason why this host does not deliver although the endpoint is enabled; null if it does.</summary>
    public string? Absence { get; }

    /// <summary>The model of the endpoint.</summary>
    public OutboundModel Model { get; }

    /// <summary>Sends to the external system.</summary>
    public EndpointSender Sender => _sender;

    /// <summary>The state carried over to a controller with other settings.</summary>
    public EndpointHandover Handover => new(_state);

    /// <summary>The settings that an operator tuned, also those that the configuration forbids.</summary>
    public EndpointTuning Tuned => _tuned;

    /// <summary>The settings as configured.</summary>
    public EndpointTuning Configured => _configured;

    public EndpointStatus Status
    {
        get
        {
            var subscription = _subscription;
            var isLive = !_config.HasQueue || (subscription?.IsLive == true && !_services.Quarantine.IsMarked(_config.Name));
            var status = _state.Describe(_config, _type, _current, Outage, isLive, subscription?.Reason ?? _holder?.Trouble);
            if (Absence is not null)
                return status with { State = EndpointState.Disabled, Reason = Absence, Configured = _configured, Pool = _sender.Pool };
            var quarantine = status.State == EndpointState.Disabled ? null : _services.Quarantine.ReasonOf(_config.Name);
            var isStandby = status.State is not (EndpointState.Disabled or EndpointState.PausedByOperator) && _holder is { IsHeld: false };
            return status with
            {
                State =
                    quarantine is not null ? EndpointState.Quarantined
                    : isStandby ? EndpointState.Standby
                    : status.State,
                Reason = quarantine ?? _startFailure ?? status.Reason,
                Configured = _configured,
                Pool = _sender.Pool,
                Stuck = _sender.Stuck,
                HasFailed =
                    _startFailure is not null
                    || _sender.Adapter is UnmadeAdapter
                    || subscription?.Reason?.StartsWith(Drift, StringComparison.Ordinal) == true,
                Sizing = _sender.Sizing,
            };
        }
    }

    // The reason why delivery is suspended although the external system may be reachable.
    private string? Outage =>
        _isHeld ? "its queues are being replaced" : _gate.Reason ?? (_config.HasQueue ? _services.AuditGate.Obstacle : null);

    /// <summary>Applies the current pool size and concurrency to a sender that was created for other settings.</summary>
    public void FitSender() => _sender.Resize(_current.PoolSize!.Value, _current.ProcessingThreads!.Value);

    public async Task StartAsync(CancellationToken cancellationToken)
    {
        if (!_config.HasQueue)
            return;
        if (_holder is null && !_services.Quarantine.IsCareful(_config.Name))
        {
            await SubscribeAsync(lease: null, opening: null, cancellationToken);
            return;
        }

        if (_holder is null)
        {
            await _services.Transport.DeclareAsync(SubscriptionFor(_current), cancellationToken); // messages published meanwhile wait there
            _opening = OpenInTurnAsync();
            return;
        }

        // Messages published from here on reach the queue, on this host or on the host that holds the lease.
        _holder.Start();
        await Task.WhenAny(_subscribed.Task, _holder.StandsBy, Task.Delay(StartLimit, _services.Time, cancellationToken));
    }

    /// <summary>Lets in-flight deliveries finish; waiting deliveries return to their queue. A cancelled token aborts them.</summary>
    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await _receiver.StopAsync();
        await using var abort = cancellationToken.Register(() => _ = _receiver.AbortAsync());
        await _stopping.CancelAsync();
        await _opening;
        if (_holder is null)
            await UnsubscribeAsync();
        else
            await _holder.DisposeAsync();
    }

    /// <summary>Changes the tunable settings; null leaves a value unchanged.</summary>
    public Task TuneAsync(EndpointTuning tuning, CancellationToken cancellationToken)
    {
        if (tuning.Paused == false)
            Release();
        return SetAsync(EndpointTunings.Merge(_configured, _tuned, tuning), cancellationToken);
    }

    /// <summary>Ends the quarantine of the endpoint, if it is quarantined.</summary>
    public void Release() => _services.Quarantine.Release(_config.Name);

    /// <summary>Replaces the tuned settings. Those that need another controller (<see cref="EndpointTunings.NeedsAnother"/>) stay as they
    /// are.</summary>
    public async Task SetAsync(EndpointTuning tuned, CancellationToken cancellationToken)
    {
        await _changing.WaitAsync(cancellationToken);
        try
        {
            var before = _current;
            var after = EndpointTunings.Change(Model.Config, _configured, EndpointTunings.Applicable(Model.Config, tuned)) with
            {
                Retry = before.Retry,
                CircuitBreaker = before.CircuitBreaker,
            };
            if ((after.PoolSize, after.ProcessingThreads) != (before.PoolSize, before.ProcessingThreads))
                _sender.Resize(after.PoolSize!.Value, after.ProcessingThreads!.Value);
            _pace.Rate = after.Rate ?? 0;
            (_tuned, _current) = (tuned, after);
            var isSame =
                (after.ProcessingThreads, after.Prefetch, after.Paused) == (before.ProcessingThreads, before.Prefetch, before.Paused);
            if (!isSame && _subscription is { } subscription)
                await TuneAsync(subscription, after, cancellationToken);
        }
        finally
        {
            _changing.Release();
        }
    }

    /// <summary>Stops consuming the endpoint's queues after the in-flight deliveries, or resumes unless an operator has paused
    /// it.</summary>
    public async Task HoldAsync(bool isHeld, CancellationToken cancellationToken)
    {
        await _changing.WaitAsync(cancellationToken);
        try
        {
            _isHeld = isHeld;
            if (_subscription is { } subscription && _current.Paused != true)
                await TuneAsync(subscription, _current, cancellationToken);
        }
        finally
        {
            _changing.Release();
        }
    }

    /// <summary>Resets the peak of deliveries.</summary>
    public void ResetPeaks() => _state.ResetPeaks();

    /// <summary>Applies an operator's decision to the message that blocks the endpoint.</summary>
    /// <returns>True if the endpoint is stopped at this message on this host.</returns>
    public bool TryMoveOn(Guid messageId, bool discard, OperatorDecision? decision) =>
        _mode is OrderedDelivery ordered && ordered.TryMoveOn(messageId, discard, decision);

    /// <summary>Sends without a queue. A message that the endpoint applied before is recorded as a duplicate and has no answer.</summary>
    /// <exception cref="EndpointException"><c>ESB-ENDPOINT-PAUSED</c>: paused by an operator. Or the failure of the send.</exception>
    public async ValueTask<EsbMessage?> CallAsync(EsbMessage message, IUnitOfWork? unitOfWork, CancellationToken cancellationToken)
    {
        if (_current.Paused == true)
            throw new EndpointException(
                _config.Name,
                "ESB-ENDPOINT-PAUSED",
                $"The endpoint '{_config.Name}' was paused by an operator.",
                isTransient: true,
                kind: FaultKind.Unavailable
            );
        var answer = await SendCallAsync(message, unitOfWork, cancellationToken);
        SendTelemetry.CountCalled(_config.Name, message);
        if (FilteredAnswer.Is(answer))
        {
            await _journal.FilteredAsync(message, CancellationToken.None);
            return null;
        }

        if (DuplicateNotice.Read(answer) is not { } notice)
            return answer;
        await _journal.DuplicateAsync(message, notice, duration: null, CancellationToken.None);
        return null;
    }

    // An answer that shows a fault of the external system counts as a failure; other statuses may be what the process asks for.
    private async ValueTask<EsbMessage?> SendCallAsync(EsbMessage message, IUnitOfWork? unitOfWork, CancellationToken cancellationToken)
    {
        try
        {
            var answer = await _sender.SendAsync(message, unitOfWork, cancellationToken);
            if (answer is not null && !FilteredAnswer.Is(answer) && _sender.Adapter.FailureOf(answer) is { IsTransient: true })
                _state.CountFailure();
            else
                _state.CountMessage();
            return answer;
        }
        catch (EsbException)
        {
            _state.CountFailure();
            throw;
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _sender.DisposeAsync();
        await LeaveAsync();
    }

    /// <summary>Releases everything but the sender, which another controller continues to use.</summary>
    /// <returns>The sender.</returns>
    public async ValueTask<EndpointSender> LeaveAsync()
    {
        if (_holder is not null)
            await _holder.DisposeAsync();
        _receiver.Dispose();
        _freezes.Dispose();
        _changing.Dispose();
        _stopping.Dispose();
        return _sender;
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
        if (_sender.Adapter is IFencingAdapter fencing)
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
            LogNotOpened(_config.Name, ex);
        }
    }

    private async Task OpenAsync(HeldLease? lease, CancellationToken cancellationToken)
    {
        using var opening = await _services.Quarantine.EnterAsync(_config.Name, cancellationToken);
        await SubscribeAsync(lease, opening, cancellationToken);
        if (opening is not null)
            await opening.WatchAsync(() => _subscription?.IsLive == true, cancellationToken);
    }

    private async Task SubscribeAsync(HeldLease? lease, EndpointOpening? opening, CancellationToken cancellationToken)
    {
        await _changing.WaitAsync(cancellationToken);
        try
        {
            var current = _current;
            var opensPaused = current.Paused == true; // the transport learns of the pause only after it has subscribed
            DeliveryHandler work = (delivery, token) => _receiver.ReceiveAsync(delivery, lease, token);
            DeliveryHandler guarded = opening is null ? work : (delivery, token) => opening.WorkAsync(() => work(delivery, token), token);
            // Before the guard: the pause waits for deliveries, and what the guard holds waits for the end of this method.
            DeliveryHandler handler = (delivery, token) =>
                (_isHeld && opening is not null) || (opensPaused && _current.Paused == true)
                    ? ValueTask.FromResult(Settlement.Return)
                    : guarded(delivery, token);
            var subscription = await _services.Transport.SubscribeAsync(SubscriptionFor(current), handler, cancellationToken);
            _subscription = subscription;
            if (current.Paused == true || _isHeld)
                await TuneAsync(subscription, current, cancellationToken);
            if (_config.Delivery == DeliveryMode.OrderedByKey)
                _releases = new ReleaseTimer(
                    _config.Name,
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
    private async Task TuneAsync(ITopicSubscription subscription, EndpointTuning tuning, CancellationToken cancellationToken)
    {
        await _receiver.InterruptAsync();
        try
        {
            await subscription.TuneAsync(
                tuning.ProcessingThreads!.Value,
                tuning.Prefetch!.Value,
                tuning.Paused == true || _isHeld,
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

    private Subscription SubscriptionFor(EndpointTuning tuning) =>
        Subscription.Of(_config) with
        {
            Concurrency = tuning.ProcessingThreads!.Value,
            Prefetch = tuning.Prefetch!.Value,
        };
}
