using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Topics;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Delivery;

/// <summary>The outbound endpoints of a configuration, each with its delivery controller.</summary>
internal sealed partial class OutboundEndpoints : IBusPart, IEndpointCaller, IEndpointMonitor, IConfigurationCheck, IAsyncDisposable
{
    private readonly ConfigErrors _errors = new();
    private readonly Dictionary<string, DeliveryController> _controllers = [];
    private readonly ITopicTransport _transport;
    private readonly ILogger<OutboundEndpoints> _logger;

    public OutboundEndpoints(
        EsbConfiguration configuration,
        IEnumerable<IEndpointType> types,
        IEnumerable<SettingsKind> kinds,
        IExpressionCompiler expressions,
        DeliveryServices services)
    {
        _transport = services.Transport;
        _logger = services.Loggers.CreateLogger<OutboundEndpoints>();
        var bySettings = types.OfType<IOutboundEndpointType>().ToDictionary(type => type.Settings);
        var names = kinds.Where(kind => kind.Settings is not null).ToLookup(kind => kind.Settings!, kind => kind.Kind);
        foreach (var config in configuration.Named<EndpointConfig>("endpoints").Values.OfType<OutboundEndpointConfig>())
        {
            var create = bySettings[config.GetType()].Prepare(config, _errors);
            var filter = config.Filter is null ? null : expressions.Compile(config.Filter, _errors);
            if (filter?.ReadsBody == true) _errors.Add("ESB-CFG-FILTER", config, "filter", "looks at headers and the envelope only, never into the body");
            if (create is null) continue; // it is never started
            var sender = new EndpointSender(config, create(), services.Time, services.Loggers);
            _controllers[config.Name] = new DeliveryController(config, names[config.GetType()].First(), sender, filter, services);
        }
    }

    public BusStage Stage => BusStage.Outbound;

    public IReadOnlyList<EndpointStatus> Endpoints => [.. _controllers.Values.Select(controller => controller.Status)];

    /// <summary>The controller of an endpoint; null where there is none.</summary>
    public DeliveryController? Find(string endpoint) => _controllers.GetValueOrDefault(endpoint);

    public void ResetPeaks()
    {
        foreach (var controller in _controllers.Values) controller.ResetPeaks();
    }

    public void Check(ConfigErrors errors)
    {
        errors.AddAll(_errors);
    }

    public async Task StartAsync(CancellationToken cancellationToken)
    {
        foreach (var (name, controller) in _controllers)
        {
            if (controller.Status.State == EndpointState.Disabled) continue;
            try
            {
                await controller.StartAsync(cancellationToken);
            }
            catch (EsbException ex)
            {
                LogNotStarted(name, ex); // the others run all the same
            }
        }
    }

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        try
        {
            await _transport.DrainAsync(cancellationToken);
        }
        finally
        {
            await Task.WhenAll(_controllers.Values.Select(controller => controller.StopAsync(cancellationToken)));
        }
    }

    public ValueTask<EsbMessage?> CallAsync(string endpoint, EsbMessage message, IUnitOfWork? unitOfWork, CancellationToken cancellationToken) =>
        _controllers[endpoint].CallAsync(message, unitOfWork, cancellationToken);

    public async ValueTask DisposeAsync()
    {
        foreach (var controller in _controllers.Values) await controller.DisposeAsync();
    }

    [LoggerMessage(EventId = 2420, Level = LogLevel.Error, Message = "Endpoint {Endpoint} did not start; the others run")]
    private partial void LogNotStarted(string endpoint, Exception exception);
}
