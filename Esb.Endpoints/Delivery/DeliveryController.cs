using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Endpoints.Delivery.Lanes;
using Esb.Endpoints.Delivery.Modes;
using Esb.Endpoints.SingleInstance;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Delivery;

/// <summary>Runs one outbound endpoint: its subscription, its pool, and what can be changed about them. What becomes of a message is decided by its <see cref="IDeliveryMode"/>.</summary>
/// <remarks>Thread-safe: <c>processingThreads</c> deliveries come at once; each rents one of <c>poolSize</c> instances.</remarks>
internal sealed class DeliveryController : IAsyncDisposable
{
    // How long a start waits for the store to say which host delivers. Then the others start all the same.
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
    private readonly SemaphoreSlim _changing = new(1, 1);
    private volatile EndpointTuning _current;
    private volatile ITopicSubscription? _subscription;
    private readonly TaskCompletionSource _subscribed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly LeaseHolder? _holder;
    private volatile bool _isHeld;
    private ReleaseTimer? _releases;

    public DeliveryController(OutboundEndpointConfig config, string type, EndpointSender sender, IMessageCondition? filter, DeliveryServices services)
    {
        (_config, _type, _sender, _services) = (config, type, sender, services);
        _current = _configured = EndpointTunings.Of(config);
        var (time, loggers) = (services.Time, services.Loggers);
        _state = new DeliveryState(time);
        _gate = new OutageGate(time);
        _freezes = new FreezeWatch(time);
        _patience = new Patience(config.Name, _state, time, loggers.CreateLogger<Patience>());
        _journal = new DeliveryJournal(config.Name, services.Audit, _state, _patience, time, loggers.CreateLogger<DeliveryJournal>());
        _mode = DeliveryModes.Create(config, sender, _gate, _state, _journal, _patience, _freezes, services);
        _receiver = new DeliveryReceiver(config, services.Transport.System, filter, _mode, _state, _journal, services.AuditGate, time, loggers.CreateLogger<DeliveryReceiver>());
        if (config is { SingleInstance: true, Subscribe.Count: > 0 } && services.Singles.AreShared) _holder = services.Singles.Hold(config.Name, RunAsync);
    }

    public OutboundEndpointConfig Config => _config;

    public EndpointStatus Status
    {
        get
        {
            var subscription = _subscription;
            var isLive = _config.Subscribe.Count == 0 || subscription?.IsLive == true;
            var status = _state.Describe(_config, _type, _current, Outage, isLive, subscription?.Reason ?? _holder?.Trouble);
            return status with
            {
                State = status.State is not (EndpointState.Disabled or EndpointState.PausedByOperator) && _holder is { IsHeld: false } ? EndpointState.Standby : status.State,
                Configured = _configured,
                Pool = _sender.Pool,
                Stuck = _sender.Stuck,
            };
        }
    }

    // Why it delivers nothing for now, though its outside may be there.
    private string? Outage => _isHeld ? "its queues are being replaced" : _gate.Reason ?? (_config.Subscribe.Count > 0 ? _services.AuditGate.Obstacle : null);

    public async Task StartAsync(CancellationToken cancellationToken)
    {
        if (_config.Subscribe.Count == 0) return;
        if (_holder is null)
        {
            await SubscribeAsync(lease: null, cancellationToken);
            return;
        }

        // What is published from here on finds the queue: this host's, or that of the one that delivers.
        _holder.Start();
        await Task.WhenAny(_subscribed.Task, _holder.StandsBy, Task.Delay(StartLimit, _services.Time, cancellationToken));
    }

    /// <summary>Lets deliveries under way finish; those that wait for something go back to their queue. A cancelled token aborts them.</summary>
    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await _receiver.StopAsync();
        await using var abort = cancellationToken.Register(() => _ = _receiver.AbortAsync());
        if (_holder is null) await UnsubscribeAsync();
        else await _holder.DisposeAsync();
    }

    /// <summary>Goes on with other numbers; what is null stays.</summary>
    public async Task TuneAsync(EndpointTuning tuning, CancellationToken cancellationToken)
    {
        await _changing.WaitAsync(cancellationToken);
        try
        {
            var before = _current;
            var after = EndpointTunings.Change(_config, before, tuning);
            if ((after.PoolSize, after.ProcessingThreads) != (before.PoolSize, before.ProcessingThreads)) _sender.Resize(after.PoolSize!.Value, after.ProcessingThreads!.Value);
            _current = after;
            var isSame = (after.ProcessingThreads, after.Prefetch, after.Paused) == (before.ProcessingThreads, before.Prefetch, before.Paused);
            if (!isSame && _subscription is { } subscription) await TuneAsync(subscription, after, cancellationToken);
        }
        finally
        {
            _changing.Release();
        }
    }

    /// <summary>Lets go of the endpoint's queues after the deliveries under way, or takes them again unless an operator has paused it.</summary>
    public async Task HoldAsync(bool isHeld, CancellationToken cancellationToken)
    {
        await _changing.WaitAsync(cancellationToken);
        try
        {
            _isHeld = isHeld;
            if (_subscription is { } subscription && _current.Paused != true) await TuneAsync(subscription, _current, cancellationToken);
        }
        finally
        {
            _changing.Release();
        }
    }

    /// <summary>Begins to look for the peak of deliveries anew.</summary>
    public void ResetPeaks() => _state.ResetPeaks();

    /// <summary>An operator's word for the message that the endpoint stands at.</summary>
    /// <returns>Whether it stands at this one here.</returns>
    public bool TryMoveOn(Guid messageId, bool discard, OperatorDecision? decision) => _mode is OrderedDelivery ordered && ordered.TryMoveOn(messageId, discard, decision);

    /// <summary>Sends without a queue. A message that the endpoint applied before is recorded as such, and has no answer.</summary>
    /// <exception cref="EndpointException"><c>ESB-ENDPOINT-PAUSED</c>: by an operator. Or what sending fails with.</exception>
    public async ValueTask<EsbMessage?> CallAsync(EsbMessage message, IUnitOfWork? unitOfWork, CancellationToken cancellationToken)
    {
        if (_current.Paused == true)
            throw new EndpointException(_config.Name, "ESB-ENDPOINT-PAUSED", $"The endpoint '{_config.Name}' was paused by an operator.", isTransient: true, kind: FaultKind.Unavailable);
        var answer = await _sender.SendAsync(message, unitOfWork, cancellationToken);
        SendTelemetry.CountCalled(_config.Name, message);
        if (DuplicateNotice.Read(answer) is not { } notice) return answer;
        await _journal.DuplicateAsync(message, notice, duration: null, CancellationToken.None);
        return null;
    }

    public async ValueTask DisposeAsync()
    {
        if (_holder is not null) await _holder.DisposeAsync();
        await _sender.DisposeAsync();
        _receiver.Dispose();
        _freezes.Dispose();
        _changing.Dispose();
    }

    // While this host is the one that delivers. What is under way when the lease is lost is aborted, and goes back to the queue.
    private async Task RunAsync(HeldLease lease, CancellationToken ending)
    {
        try
        {
            if (_sender.Adapter is IFencingAdapter fencing) await _patience.InsistAsync(() => fencing.RaiseFenceAsync(lease.Token, ending), ending);
            await SubscribeAsync(lease, ending);
            _subscribed.TrySetResult();
            await Task.Delay(Timeout.Infinite, ending).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
        finally
        {
            await UnsubscribeAsync();
            _state.Trouble = null; // another host's now
        }
    }

    private async Task SubscribeAsync(HeldLease? lease, CancellationToken cancellationToken)
    {
        await _changing.WaitAsync(cancellationToken);
        try
        {
            var current = _current;
            var subscription = await _services.Transport.SubscribeAsync(SubscriptionFor(current), (delivery, token) => _receiver.ReceiveAsync(delivery, lease, token), cancellationToken);
            _subscription = subscription;
            if (current.Paused == true || _isHeld) await TuneAsync(subscription, current, cancellationToken);
            if (_config.Delivery == DeliveryMode.OrderedByKey)
                _releases = new ReleaseTimer(_config.Name, _services.Parking, _services.Queues, _services.Time, _services.Loggers.CreateLogger<ReleaseTimer>());
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
        if (releases is not null) await releases.DisposeAsync();
        if (subscription is not null) await subscription.DisposeAsync();
    }

    // Deliveries that wait for the outside, or for a word, would be waited for: they go back, and come again.
    private async Task TuneAsync(ITopicSubscription subscription, EndpointTuning tuning, CancellationToken cancellationToken)
    {
        await _receiver.InterruptAsync();
        try
        {
            await subscription.TuneAsync(tuning.ProcessingThreads!.Value, tuning.Prefetch!.Value, tuning.Paused == true || _isHeld, cancellationToken);
        }
        finally
        {
            _receiver.Resume();
        }
    }

    private Subscription SubscriptionFor(EndpointTuning tuning) =>
        Subscription.Of(_config) with { Concurrency = tuning.ProcessingThreads!.Value, Prefetch = tuning.Prefetch!.Value };
}
