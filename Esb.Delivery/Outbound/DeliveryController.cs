using System.Runtime.CompilerServices;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Delivery.Attempts;
using Esb.Delivery.Control;
using Esb.Delivery.Modes;
using Esb.Delivery.Outages;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Outbound;

/// <summary>Runs one outbound endpoint: its consumer, its instance pool, and changes of its settings at run time. The
/// <see cref="IDeliveryMode"/> of its current revision settles each message.</summary>
/// <remarks>Thread-safe: <c>processingThreads</c> deliveries run concurrently; each rents one of <c>poolSize</c> instances.</remarks>
internal sealed class DeliveryController : IAsyncDisposable
{
    private readonly string _name;
    private readonly EndpointSender _sender;
    private readonly DeliveryServices _services;
    private readonly DeliveryState _state;
    private readonly DeliveryJournal _journal;
    private readonly DeliveryModes _modes;
    private readonly DeliveryReceiver _receiver;
    private readonly EndpointConsumer? _consumer; // null without a queue
    private readonly FreezeWatch _freezes;
    private readonly SendPace _pace;
    private readonly SemaphoreSlim _changing = new(1, 1);
    private volatile EndpointSettings _settings;

    /// <param name="model">The endpoint.</param>
    /// <param name="sender">Sends to the external system.</param>
    /// <param name="services">The services that all endpoints share.</param>
    /// <param name="state">The state of the controller that this one replaces; null for a new endpoint.</param>
    /// <param name="tuned">The settings that an operator tuned; null if none.</param>
    /// <param name="absence">The reason why this host does not deliver; null if it does.</param>
    public DeliveryController(
        OutboundModel model,
        EndpointSender sender,
        DeliveryServices services,
        DeliveryState? state = null,
        EndpointTuning? tuned = null,
        string? absence = null
    )
    {
        var settings = _settings = new EndpointSettings(model, tuned ?? new EndpointTuning());
        (Absence, _name, _sender, _services) = (absence, model.Config.Name, sender, services);
        var (time, loggers) = (services.Time, services.Loggers);
        _state = state ?? new DeliveryState(time);
        _pace = new SendPace(time) { Rate = settings.Current.Rate ?? 0 };
        _freezes = new FreezeWatch(time);
        var patience = new Patience(_name, _state, time, loggers.CreateLogger<Patience>());
        _journal = new DeliveryJournal(_name, services.Audit, _state, patience, time, loggers.CreateLogger<DeliveryJournal>())
        {
            Alerts = services.Alerts,
        };
        _modes = new DeliveryModes(_name, sender, _state, _journal, patience, _freezes, _pace, services);
        _receiver = new DeliveryReceiver(
            model.Config,
            services.Transport.System,
            Revise(settings, gate: null),
            _state,
            _journal,
            services.AuditGate,
            time,
            loggers.CreateLogger<DeliveryReceiver>()
        );
        if (model.Config.HasQueue)
            _consumer = new EndpointConsumer(settings, _receiver, sender.Adapter, _state, patience, services);
    }

    public OutboundEndpointConfig Config => _settings.Config;

    /// <summary>The reason why this host does not deliver although the endpoint is enabled; null if it does.</summary>
    public string? Absence { get; }

    /// <summary>The model of the endpoint in the revision that it runs.</summary>
    public OutboundModel Model => _settings.Model;

    /// <summary>Sends to the external system.</summary>
    public EndpointSender Sender => _sender;

    /// <summary>The state carried over to a controller that replaces this one.</summary>
    public DeliveryState State => _state;

    /// <summary>The settings as configured.</summary>
    public EndpointTuning Configured => _settings.Configured;

    /// <summary>True if it consumes its queue, retries to, or has no queue.</summary>
    public bool HasStarted => _consumer?.HasStarted != false;

    public EndpointStatus Status
    {
        get
        {
            var settings = _settings;
            var isLive = _consumer?.IsLive != false;
            var status = _state.Describe(settings.Config, settings.Model.Type, settings.Current, Outage, isLive, _consumer?.Reason) with
            {
                Configured = settings.Configured,
                Pool = _sender.Pool,
            };
            if (Absence is not null)
                return status with { State = EndpointState.Disabled, Reason = Absence };
            var quarantine = status.State == EndpointState.Disabled ? null : _services.Quarantine.ReasonOf(_name);
            var isStandby = status.State is not (EndpointState.Disabled or EndpointState.PausedByOperator) && _consumer?.IsStandby == true;
            return status with
            {
                State =
                    quarantine is not null ? EndpointState.Quarantined
                    : isStandby ? EndpointState.Standby
                    : status.State,
                Reason = quarantine ?? _consumer?.StartFailure ?? status.Reason,
                Stuck = _sender.Stuck,
                HasFailed = _consumer?.HasFailed == true || _sender.Adapter is UnmadeAdapter,
                Sizing = _sender.Sizing,
            };
        }
    }

    // The reason why delivery is suspended although the external system may be reachable.
    private string? Outage =>
        _consumer?.IsHeld == true
            ? "its queues are being replaced"
            : _receiver.Revision.Gate.Reason ?? (_consumer is null ? null : _services.AuditGate.Obstacle);

    /// <summary>Applies the current pool size and concurrency to a sender that was created for other settings.</summary>
    public void FitSender() => _sender.Resize(_settings.Current.PoolSize!.Value, _settings.Current.ProcessingThreads!.Value);

    public Task StartAsync(CancellationToken cancellationToken) => _consumer?.StartAsync(cancellationToken) ?? Task.CompletedTask;

    /// <summary>Lets in-flight deliveries finish; waiting deliveries return to their queue. A cancelled token aborts them.</summary>
    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await _receiver.StopAsync();
        await using var abort = cancellationToken.Register(() => _ = _receiver.AbortAsync());
        if (_consumer is not null)
            await _consumer.StopAsync();
    }

    /// <summary>Changes the tunable settings; null leaves a value unchanged.</summary>
    public Task TuneAsync(EndpointTuning tuning, CancellationToken cancellationToken)
    {
        if (tuning.Paused == false)
            Release();
        return SetAsync(Model, EndpointTunings.Merge(_settings.Configured, _settings.Tuned, tuning), cancellationToken);
    }

    /// <summary>Ends the quarantine of the endpoint, if it is quarantined.</summary>
    public void Release() => _services.Quarantine.Release(_name);

    /// <summary>True if it can take these settings over with <see cref="SetAsync"/>; otherwise another controller replaces it.</summary>
    public bool CanTake(OutboundModel model, EndpointTuning tuned) => _settings.CanBecome(new EndpointSettings(model, tuned));

    /// <summary>Exchanges the settings in place: attempts under way end on the old ones, the next attempts are made on the new ones. Only a
    /// change of <c>processingThreads</c>, <c>prefetch</c> or the pause waits for the deliveries under way.</summary>
    public async Task SetAsync(OutboundModel model, EndpointTuning tuned, CancellationToken cancellationToken)
    {
        await _changing.WaitAsync(cancellationToken);
        try
        {
            var (before, after) = (_settings, new EndpointSettings(model, tuned));
            _settings = after;
            var (was, now) = (before.Current, after.Current);
            if ((now.PoolSize, now.ProcessingThreads) != (was.PoolSize, was.ProcessingThreads))
                FitSender();
            _pace.Rate = now.Rate ?? 0;
            if (!after.DeliversLike(before))
                await _receiver.ExchangeAsync(Revise(after, after.HasBreakerOf(before) ? _receiver.Revision.Gate : null));
            if (_consumer is not null)
                await _consumer.TuneAsync(after, cancellationToken);
        }
        finally
        {
            _changing.Release();
        }
    }

    /// <summary>Stops consuming the endpoint's queues after the in-flight deliveries, or resumes unless an operator has paused
    /// it.</summary>
    public Task HoldAsync(bool isHeld, CancellationToken cancellationToken) =>
        _consumer?.HoldAsync(isHeld, cancellationToken) ?? Task.CompletedTask;

    /// <summary>Resets the peak of deliveries.</summary>
    public void ResetPeaks() => _state.ResetPeaks();

    /// <summary>Applies an operator's decision to the message that blocks the endpoint.</summary>
    /// <returns>True if the endpoint is stopped at this message on this host.</returns>
    public bool TryMoveOn(Guid messageId, bool discard, OperatorDecision? decision) =>
        _receiver.Revision.Mode is OrderedDelivery ordered && ordered.TryMoveOn(messageId, discard, decision);

    /// <summary>Sends without a queue. A message that the endpoint applied before is recorded as a duplicate and has no answer.</summary>
    /// <exception cref="EndpointException"><c>ESB-ENDPOINT-PAUSED</c>: paused by an operator. Or the failure of the send.</exception>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public async ValueTask<EsbMessage?> CallAsync(EsbMessage message, IUnitOfWork? unitOfWork, CancellationToken cancellationToken)
    {
        if (_settings.IsPaused)
            throw new EndpointException(
                _name,
                "ESB-ENDPOINT-PAUSED",
                $"The endpoint '{_name}' was paused by an operator.",
                isTransient: true,
                kind: FaultKind.Unavailable
            );
        EsbMessage? answer;
        try
        {
            answer = await _sender.SendAsync(message, unitOfWork, cancellationToken);
        }
        catch (EsbException)
        {
            _state.CountFailure();
            throw;
        }

        // An answer that shows a fault of the external system counts as a failure; other statuses may be what the process asks for.
        if (answer is not null && !FilteredAnswer.Is(answer) && _sender.Adapter.FailureOf(answer) is { IsTransient: true })
            _state.CountFailure();
        else
            _state.CountMessage();
        SendTelemetry.CountCalled(_name, message);
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

    public async ValueTask DisposeAsync()
    {
        await _sender.DisposeAsync();
        await LeaveAsync();
    }

    /// <summary>Releases everything but the sender, which another controller continues to use.</summary>
    /// <returns>The sender.</returns>
    public async ValueTask<EndpointSender> LeaveAsync()
    {
        if (_consumer is not null)
            await _consumer.DisposeAsync();
        _receiver.Dispose();
        _freezes.Dispose();
        _changing.Dispose();
        return _sender;
    }

    private DeliveryRevision Revise(EndpointSettings settings, OutageGate? gate)
    {
        gate ??= new OutageGate(settings.Config.CircuitBreaker, _services.Time);
        return new DeliveryRevision(settings.Model.Filter, gate, _modes.Create(settings.Config, gate));
    }
}
