using Esb.Configuration;
using Esb.Configuration.Revisions;
using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Delivery.Intake.Holds;
using Esb.Delivery.SingleInstance;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Intake;

/// <summary>The inbound endpoints of the revision in service, each with its intake.</summary>
internal sealed partial class InboundEndpoints(
    Live<EndpointModels> models,
    Live<HostConfig> host,
    IRevisions revisions,
    IntakeStates states,
    IntakeHolds holds,
    SingleInstances singles,
    ILogger<InboundEndpoints> logger
) : IBusPart, IEndpointMonitor, IRevisionPart, IAsyncDisposable
{
    private static readonly TimeSpan StartLimit = TimeSpan.FromSeconds(10);

    private readonly Lock _gate = new();
    private readonly Dictionary<string, RunningEndpoint> _running = [];
    private readonly Dictionary<string, string> _failed = [];

    public BusStage Stage => BusStage.Inbound;

    public IReadOnlyList<Type> StartsAfter => [typeof(IInboundGround)];

    public IReadOnlyList<EndpointStatus> Endpoints => [.. models.Current.Inbound.Select(Describe)];

    /// <summary>True if an inbound endpoint of this name exists, running or not.</summary>
    public bool Knows(string endpoint) => models.Current.Inbound.Any(model => model.Config.Name == endpoint);

    /// <summary>The settings of an inbound endpoint; null if it does not exist.</summary>
    public InboundEndpointConfig? ConfigOf(string endpoint) =>
        models.Current.Inbound.FirstOrDefault(model => model.Config.Name == endpoint)?.Config;

    public void ResetPeaks()
    {
        foreach (var model in models.Current.Inbound)
            states.Of(model.Config.Name).ResetPeaks();
    }

    public async Task StartAsync(CancellationToken cancellationToken)
    {
        foreach (var model in models.Current.Inbound.Where(model => host.Current.Runs(model.Config)))
            await StartAsync(model, revisions.Current, cancellationToken);
    }

    public Task StopAsync(CancellationToken cancellationToken) =>
        Task.WhenAll(Running().Select(endpoint => endpoint.Endpoint.StopAsync(cancellationToken)));

    /// <summary>Starts new instances of endpoints that can overlap, then stops the old ones. Of the others, an endpoint with unchanged
    /// settings only receives a new intake.</summary>
    public async Task ExchangeAsync(Revision next, Leftovers old, CancellationToken cancellationToken)
    {
        var wanted = models.Current.Inbound.Where(model => host.Current.Runs(model.Config)).ToDictionary(model => model.Config.Name);
        foreach (var gone in Running().Where(running => !wanted.ContainsKey(running.Model.Config.Name)))
            old.Until(StopAsync(gone, cancellationToken));
        foreach (var model in wanted.Values)
        {
            var before = Find(model.Config.Name);
            if (before is null || model.Config.CanOverlap)
            {
                await StartAsync(model, next, cancellationToken);
                if (before is not null)
                    old.Until(StopAsync(before, cancellationToken)); // in-flight callers are still answered
            }
            else if (before.Model.Fingerprint == model.Fingerprint)
            {
                before.Intake.Exchange(IntakesOf(next).Create(model.Config));
            }
            else
            {
                await StopAsync(before, cancellationToken);
                await StartAsync(model, next, cancellationToken);
            }
        }
    }

    public async ValueTask DisposeAsync()
    {
        // Registered under several interfaces, so the container disposes it several times.
        var endpoints = Running();
        lock (_gate)
            _running.Clear();
        foreach (var endpoint in endpoints)
            await endpoint.Endpoint.DisposeAsync();
    }

    // Runs on a separate thread, so that an endpoint that blocks its start does not delay the others.
    private static async Task StartAsync(IInboundEndpoint endpoint, CancellationToken cancellationToken)
    {
        var starting = Task.Run(() => endpoint.StartAsync(cancellationToken), cancellationToken);
        try
        {
            await starting.WaitAsync(StartLimit, cancellationToken);
        }
        catch (TimeoutException ex) when (!starting.IsCompleted)
        {
            throw new TimeoutException($"The endpoint did not start within {StartLimit.TotalSeconds:0} s.", ex);
        }
    }

    private static IntakeFactory IntakesOf(Revision revision) => revision.Services.GetRequiredService<IntakeFactory>();

    private async Task StartAsync(InboundModel model, Revision revision, CancellationToken cancellationToken)
    {
        var config = model.Config;
        IInboundEndpoint? endpoint = null;
        try
        {
            var intake = new ExchangedIntake(IntakesOf(revision).Create(config));
            endpoint = Create(model, revision, intake); // may read files
            await StartAsync(endpoint, cancellationToken);
            lock (_gate)
            {
                _running[config.Name] = new RunningEndpoint(model, endpoint, intake);
                _failed.Remove(config.Name);
            }
        }
        catch (Exception ex) when (ex is not (ConfigurationRefusedException or OperationCanceledException))
        {
            if (endpoint is not null)
                await endpoint.DisposeAsync();
            lock (_gate)
                _failed[config.Name] = ex.Message;
            LogNotStarted(config.Name, ex); // the other endpoints start regardless
        }
    }

    private async Task StopAsync(RunningEndpoint old, CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            if (_running.GetValueOrDefault(old.Model.Config.Name) == old)
                _running.Remove(old.Model.Config.Name);
        }

        try
        {
            await old.Endpoint.StopAsync(cancellationToken);
        }
        catch (OperationCanceledException)
        {
            // The stop exceeded its time limit; callers have received an error.
        }

        await old.Endpoint.DisposeAsync();
    }

    private IInboundEndpoint Create(InboundModel model, Revision revision, ExchangedIntake intake) =>
        model.Config.SingleInstance
            ? new SingleInstanceEndpoint(model.Config.Name, intake, held => model.Create!(revision.Services, held), singles)
            : model.Create!(revision.Services, intake);

    private RunningEndpoint? Find(string name)
    {
        lock (_gate)
            return _running.GetValueOrDefault(name);
    }

    private List<RunningEndpoint> Running()
    {
        lock (_gate)
            return [.. _running.Values];
    }

    private EndpointStatus Describe(InboundModel model)
    {
        var config = model.Config;
        lock (_gate)
        {
            var absence = config.Enabled ? host.Current.AbsenceOf(config) : null;
            var running = _running.GetValueOrDefault(config.Name)?.Endpoint;
            var failure = _failed.GetValueOrDefault(config.Name) ?? (running as SingleInstanceEndpoint)?.Failure;
            var reason = absence ?? failure ?? running?.Reason;
            var state =
                !config.Enabled || absence is not null ? EndpointState.Disabled
                : failure is not null ? EndpointState.Stopped
                : reason is not null ? EndpointState.Paused
                : StateOf(running);
            return holds
                .Of(config.Name)
                .Show(
                    states.Of(config.Name).Describe(model.Type, state, reason) with
                    {
                        MaxInFlight = config.CallsAtOnce,
                        HasFailed = state == EndpointState.Stopped,
                    }
                );
        }
    }

    private static EndpointState StateOf(IInboundEndpoint? running) =>
        running switch
        {
            null or SingleInstanceEndpoint { IsStarting: true } => EndpointState.Starting,
            SingleInstanceEndpoint { IsHeld: false } => EndpointState.Standby,
            _ => EndpointState.Running,
        };

    [LoggerMessage(EventId = 2510, Level = LogLevel.Error, Message = "Endpoint {Endpoint} did not start; the others run")]
    private partial void LogNotStarted(string endpoint, Exception exception);

    private sealed record RunningEndpoint(InboundModel Model, IInboundEndpoint Endpoint, ExchangedIntake Intake);
}
