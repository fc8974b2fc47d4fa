using System.Collections.Concurrent;
using Esb.Configuration;
using Esb.Configuration.Revisions;
using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Delivery.Control;
using Esb.Delivery.Failures;
using Esb.Delivery.Processes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Outbound;

/// <summary>The outbound endpoints of the active revision, each with its delivery controller. A reload leaves endpoints with unchanged
/// settings untouched, exchanges settings in place, or replaces the controller if its instances or its subscription changed.</summary>
internal sealed partial class OutboundEndpoints(
    Live<EndpointModels> models,
    Live<HostConfig> host,
    DeliveryServices delivery,
    TunedEndpoints tuned,
    IServiceProvider services,
    ILogger<OutboundEndpoints> logger
) : IBusPart, IEndpointCaller, IEndpointMonitor, IRevisionPart, IAsyncDisposable
{
    // The time to return a message, in addition to the time-out of an attempt.
    private static readonly TimeSpan DrainMargin = TimeSpan.FromSeconds(5);

    private readonly Lock _gate = new();
    private readonly SemaphoreSlim _exchanging = new(1, 1);
    private bool _isStarted;
    private volatile IReadOnlyDictionary<string, DeliveryController>? _controllers; // replaced as a whole
    private readonly ConcurrentDictionary<string, DeliveryController> _gone = new(); // callable by processes of earlier revisions

    public BusStage Stage => BusStage.Outbound;

    public IReadOnlyList<Type> StartsAfter => [typeof(IOutboundGround), typeof(DeadLetterKeeper)];

    public IReadOnlyList<EndpointStatus> Endpoints => [.. Controllers.Values.Select(controller => controller.Status)];

    // Created on first use, because their dependencies may refer back to endpoint callers.
    private IReadOnlyDictionary<string, DeliveryController> Controllers
    {
        get
        {
            if (_controllers is { } made)
                return made;
            lock (_gate)
                return _controllers ??= models
                    .Current.Outbound.Where(IsWhole)
                    .ToDictionary(model => model.Config.Name, model => Create(model, SenderOf(model)));
        }
    }

    /// <summary>The controller of an endpoint; null if it does not exist.</summary>
    public DeliveryController? Find(string endpoint) => Controllers.GetValueOrDefault(endpoint);

    public void ResetPeaks()
    {
        foreach (var controller in Controllers.Values)
            controller.ResetPeaks();
    }

    public async Task StartAsync(CancellationToken cancellationToken)
    {
        await _exchanging.WaitAsync(cancellationToken);
        try
        {
            _isStarted = true;
            foreach (var controller in Controllers.Values)
                await StartAsync(controller, cancellationToken);
        }
        finally
        {
            _exchanging.Release();
        }
    }

    /// <summary>Applies the tuned settings of an endpoint (<see cref="TunedEndpoints"/>); does nothing if it does not exist.</summary>
    public async Task RetuneAsync(string endpoint, CancellationToken cancellationToken)
    {
        await _exchanging.WaitAsync(cancellationToken);
        try
        {
            if (Find(endpoint) is not { } running)
                return;
            var wanted = tuned.Of(endpoint);
            if (running.CanTake(running.Model, wanted))
                await running.SetAsync(running.Model, wanted, cancellationToken);
            else
                await ReplaceAsync(running);
        }
        finally
        {
            _exchanging.Release();
        }
    }

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        try
        {
            await delivery.Transport.DrainAsync(cancellationToken);
        }
        finally
        {
            await Task.WhenAll(
                Controllers
                    .Values.Where(controller => controller.Absence is null)
                    .Select(controller => controller.StopAsync(cancellationToken))
            );
        }
    }

    public ValueTask<EsbMessage?> CallAsync(
        string endpoint,
        EsbMessage message,
        IUnitOfWork? unitOfWork,
        CancellationToken cancellationToken
    )
    {
        var controller = Find(endpoint) ?? _gone.GetValueOrDefault(endpoint);
        return controller is null
            ? throw new EndpointException(
                endpoint,
                "ESB-ENDPOINT-UNKNOWN",
                $"There is no outbound endpoint '{endpoint}' any more.",
                isTransient: false
            )
            : controller.CallAsync(message, unitOfWork, cancellationToken);
    }

    /// <summary>Declares the queues of changed endpoints, so that messages published by the new revision reach them.</summary>
    public async Task WelcomeAsync(Revision next, CancellationToken cancellationToken)
    {
        foreach (
            var model in ModelsOf(next)
                .Where(model => IsWhole(model) && model.Config is { Enabled: true, HasQueue: true } && !IsSame(model))
        )
            await delivery.Transport.DeclareAsync(Subscription.Of(model.Config), cancellationToken);
    }

    public async Task ExchangeAsync(Revision next, Leftovers old, CancellationToken cancellationToken)
    {
        await _exchanging.WaitAsync(cancellationToken);
        try
        {
            await ExchangeInTurnAsync(next, old, cancellationToken);
        }
        finally
        {
            _exchanging.Release();
        }
    }

    public async ValueTask DisposeAsync()
    {
        // Registered under several interfaces, so the container disposes it several times.
        foreach (var controller in (_controllers ?? new Dictionary<string, DeliveryController>()).Values.Concat(_gone.Values))
            await controller.DisposeAsync();
    }

    private async Task ExchangeInTurnAsync(Revision next, Leftovers old, CancellationToken cancellationToken)
    {
        var before = Controllers;
        var after = new Dictionary<string, DeliveryController>();
        var starting = new List<Func<Task>>();
        foreach (var model in ModelsOf(next).Where(IsWhole))
        {
            var name = model.Config.Name;
            var running = before.GetValueOrDefault(name);
            if (running?.Model.Fingerprint == model.Fingerprint)
            {
                after[name] = running;
                continue;
            }

            if (running is not null && running.Absence == AbsenceOf(model) && running.CanTake(model, tuned.Of(name)))
            {
                after[name] = running;
                starting.Add(() => ChangeAsync(running, model, cancellationToken));
                continue;
            }

            var keepsSender = running?.Model.AdapterFingerprint == model.AdapterFingerprint;
            var controller = after[name] = Create(model, keepsSender ? running!.Sender : SenderOf(model), running?.State);
            starting.Add(() => ReplaceAsync(running, controller, keepsSender, old, cancellationToken));
        }

        var gone = before.Where(one => !after.ContainsKey(one.Key)).ToList();
        foreach (var (name, controller) in gone)
            _gone[name] = controller;
        _controllers = after;
        await Task.WhenAll([.. starting.Select(start => start()), .. gone.Select(one => RetireAsync(one.Value, old, cancellationToken))]);
    }

    private static bool IsWhole(OutboundModel model) => model.Create is not null;

    private static IEnumerable<OutboundModel> ModelsOf(Revision revision) =>
        revision.Services.GetRequiredService<EndpointModels>().Outbound;

    private bool IsSame(OutboundModel model) => Find(model.Config.Name)?.Model.Fingerprint == model.Fingerprint;

    private EndpointSender SenderOf(OutboundModel model) =>
        new(
            model.Config,
            Make(model.Config.Name, model.Create!),
            delivery.Time,
            delivery.Loggers,
            EndpointProcesses.Of(model.Config, services, delivery.Time),
            model.NumbersMessages ? services.GetRequiredService<IEndpointMarks>() : null
        );

    private DeliveryController Create(OutboundModel model, EndpointSender sender, DeliveryState? before = null) =>
        new(model, sender, delivery, before, tuned.Of(model.Config.Name), AbsenceOf(model));

    private string? AbsenceOf(OutboundModel model) => model.Config.Enabled ? host.Current.AbsenceOf(model.Config) : null;

    private async Task ChangeAsync(DeliveryController running, OutboundModel model, CancellationToken cancellationToken)
    {
        await running.SetAsync(model, tuned.Of(model.Config.Name), cancellationToken);
        if (_isStarted && !running.HasStarted)
            await StartAsync(running, cancellationToken); // it could not start before
    }

    // As a reload with other retry delays does; not to be cancelled half-way.
    private async Task ReplaceAsync(DeliveryController running)
    {
        var name = running.Config.Name;
        var controller = Create(running.Model, running.Sender, running.State);
        _controllers = new Dictionary<string, DeliveryController>(Controllers) { [name] = controller };
        if (_isStarted)
            await ReplaceAsync(running, controller, keepsSender: true, new Leftovers(), CancellationToken.None);
        else
            await running.LeaveAsync();
    }

    private async Task StartAsync(DeliveryController controller, CancellationToken cancellationToken)
    {
        if (!controller.Config.Enabled)
            return;
        try
        {
            if (controller.Absence is null)
                await controller.StartAsync(cancellationToken);
            else if (controller.Config.HasQueue)
                await delivery.Transport.DeclareAsync(Subscription.Of(controller.Config), cancellationToken); // messages for it wait there
        }
        catch (EsbException ex)
        {
            LogNotStarted(controller.Config.Name, ex); // the other endpoints start regardless
        }
    }

    private async Task ReplaceAsync(
        DeliveryController? running,
        DeliveryController controller,
        bool keepsSender,
        Leftovers old,
        CancellationToken cancellationToken
    )
    {
        if (running is not null)
        {
            await DrainAsync(running, cancellationToken);
            var sender = await running.LeaveAsync();
            if (!keepsSender)
                old.Then(sender.DisposeAsync);
        }

        controller.FitSender();
        await StartAsync(controller, cancellationToken);
    }

    private async Task RetireAsync(DeliveryController controller, Leftovers old, CancellationToken cancellationToken)
    {
        await DrainAsync(controller, cancellationToken);
        if (controller.Config.HasQueue)
            await delivery.Transport.RetireAsync(Subscription.Of(controller.Config), cancellationToken);
        old.Then(() =>
        {
            _gone.TryRemove(KeyValuePair.Create(controller.Config.Name, controller));
            return controller.DisposeAsync();
        });
    }

    private async Task DrainAsync(DeliveryController controller, CancellationToken cancellationToken)
    {
        if (!controller.Config.Enabled || controller.Absence is not null)
            return;
        using var limit = new CancellationTokenSource(controller.Config.Timeout + DrainMargin, delivery.Time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(limit.Token, cancellationToken);
        try
        {
            await controller.StopAsync(either.Token);
        }
        catch (Exception ex) when (ex is EsbException or OperationCanceledException)
        {
            LogNotDrained(controller.Config.Name, ex);
        }
    }

    private IOutboundAdapter Make(string endpoint, CreateOutbound create)
    {
        try
        {
            return create(services);
        }
        catch (Exception ex)
        {
            LogNotStarted(endpoint, ex);
            return new UnmadeAdapter(endpoint, ex);
        }
    }

    [LoggerMessage(EventId = 2420, Level = LogLevel.Error, Message = "Endpoint {Endpoint} did not start; the others run")]
    private partial void LogNotStarted(string endpoint, Exception exception);

    [LoggerMessage(
        EventId = 2422,
        Level = LogLevel.Warning,
        Message = "Endpoint {Endpoint} now runs with other settings; in-flight messages took too long and go back to its queue"
    )]
    private partial void LogNotDrained(string endpoint, Exception exception);
}
