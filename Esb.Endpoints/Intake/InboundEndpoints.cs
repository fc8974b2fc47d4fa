using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Endpoints.SingleInstance;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Intake;

/// <summary>The inbound endpoints of a configuration, each with its intake.</summary>
internal sealed partial class InboundEndpoints(
    EsbConfiguration configuration,
    IEnumerable<IEndpointType> types,
    IEnumerable<SettingsKind> kinds,
    IntakeStates states,
    IntakeFactory intakes,
    SingleInstances singles,
    ILogger<InboundEndpoints> logger) : IBusPart, IEndpointMonitor, IConfigurationCheck, IAsyncDisposable
{
    private readonly Dictionary<Type, IInboundEndpointType> _types = types.OfType<IInboundEndpointType>().ToDictionary(type => type.Settings);
    private readonly ILookup<Type?, string> _names = kinds.ToLookup(kind => kind.Settings, kind => kind.Kind);
    private readonly Dictionary<string, Func<IMessageIntake, IInboundEndpoint>> _prepared = [];
    private readonly Dictionary<string, IInboundEndpoint> _running = [];
    private readonly Dictionary<string, string> _failed = [];

    public BusStage Stage => BusStage.Inbound;

    public IReadOnlyList<EndpointStatus> Endpoints => [.. Configs.Select(Describe)];

    private IEnumerable<InboundEndpointConfig> Configs => configuration.Named<EndpointConfig>("endpoints").Values.OfType<InboundEndpointConfig>();

    public void ResetPeaks()
    {
        foreach (var config in Configs) states.Of(config.Name).ResetPeaks();
    }

    public void Check(ConfigErrors errors)
    {
        foreach (var config in Configs)
        {
            if (_types[config.GetType()].Prepare(config, errors) is { } create) _prepared[config.Name] = create;
        }
    }

    public async Task StartAsync(CancellationToken cancellationToken)
    {
        foreach (var config in Configs.Where(config => config.Enabled))
        {
            IInboundEndpoint? endpoint = null;
            try
            {
                endpoint = Create(config); // may read files
                await endpoint.StartAsync(cancellationToken);
                lock (_running) _running[config.Name] = endpoint;
            }
            catch (Exception ex) when (ex is not (ConfigurationRefusedException or OperationCanceledException))
            {
                if (endpoint is not null) await endpoint.DisposeAsync();
                lock (_running) _failed[config.Name] = ex.Message;
                LogNotStarted(config.Name, ex); // the others run all the same
            }
        }
    }

    public Task StopAsync(CancellationToken cancellationToken) => Task.WhenAll(Running().Select(endpoint => endpoint.StopAsync(cancellationToken)));

    public async ValueTask DisposeAsync()
    {
        // Registered under several interfaces, so the container disposes it several times.
        var endpoints = Running();
        lock (_running) _running.Clear();
        foreach (var endpoint in endpoints) await endpoint.DisposeAsync();
    }

    private IInboundEndpoint Create(InboundEndpointConfig config)
    {
        var (create, intake) = (_prepared[config.Name], intakes.Create(config));
        return config.SingleInstance ? new SingleInstanceEndpoint(config.Name, intake, create, singles) : create(intake);
    }

    private List<IInboundEndpoint> Running()
    {
        lock (_running) return [.. _running.Values];
    }

    private EndpointStatus Describe(InboundEndpointConfig config)
    {
        var type = _names[config.GetType()].First();
        lock (_running)
        {
            var reason = _failed.GetValueOrDefault(config.Name);
            var state = !config.Enabled ? EndpointState.Disabled
                : reason is not null ? EndpointState.Stopped
                : StateOf(_running.GetValueOrDefault(config.Name));
            return states.Of(config.Name).Describe(type, state, reason) with { MaxInFlight = config.CallsAtOnce };
        }
    }

    private static EndpointState StateOf(IInboundEndpoint? running) => running switch
    {
        null => EndpointState.Starting,
        SingleInstanceEndpoint { IsHeld: false } => EndpointState.Standby,
        _ => EndpointState.Running,
    };

    [LoggerMessage(EventId = 2510, Level = LogLevel.Error, Message = "Endpoint {Endpoint} did not start; the others run")]
    private partial void LogNotStarted(string endpoint, Exception exception);
}
