using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Core.Configuration;
using Esb.Core.Processes;
using Esb.Core.Topics;
using Esb.Host.Composition;
using Esb.Host.Plugins;

namespace Esb.Host.Lifecycle;

/// <summary>The first lines of the log: the running configuration, the addresses to send to, and the places to look.</summary>
internal sealed partial class StartupReport(BusIdentity bus, Live<BusModel> live, IServiceProvider services, ILogger<StartupReport> logger)
{
    private readonly BusModel _model = live.Current;

    private IReadOnlyList<EndpointSummary> Endpoints => EndpointSummary.AllOf(_model.Configuration);

    /// <summary>Before the start: the components of the bus.</summary>
    public void Describe()
    {
        var revision = _model.Revision;
        LogConfiguration(bus.Name, revision, HostVersion.Text);
        if (_model.Configuration.Variables.GetValueOrDefault("ESB_ENVIRONMENT") is { Length: > 0 } environment)
            LogEnvironment(environment);
        foreach (var plugin in services.GetService<PluginCatalog>()?.All ?? [])
            LogPlugin(plugin.Name, plugin.Version, plugin.File);
        foreach (var warning in _model.Warnings)
            LogWarning(warning);
        DescribeTransport();
        foreach (var process in _model.Find<ProcessModels>()?.All ?? [])
            LogProcess(process.Name, process.Description);
        foreach (var endpoint in Endpoints)
        {
            var description = endpoint.Describe();
            LogEndpoint(endpoint.Name, description);
        }
    }

    /// <summary>After the start: the addresses and commands to use.</summary>
    public void Invite(Uri management, string keyFile)
    {
        foreach (var endpoint in Endpoints.Where(endpoint => endpoint.TakesRequests))
            LogSend(endpoint.Address!, endpoint.Name);
        var messages = new Uri(management, "api/messages");
        LogLook(messages, keyFile);
        LogRunning(bus.Name);
    }

    private void DescribeTransport()
    {
        if (services.GetService<ITopicTransport>() is not { } transport)
            return;
        var durability = transport.IsDurable ? "what is accepted survives this process" : "what is accepted dies with this process";
        LogTransport(transport.System, durability);
    }

    [LoggerMessage(EventId = 5010, Level = LogLevel.Information, Message = "{Name}, revision {Revision}, on ESB {Version}")]
    private partial void LogConfiguration(string name, string revision, string version);

    [LoggerMessage(EventId = 5019, Level = LogLevel.Information, Message = "environment {Environment}, from ESB_ENVIRONMENT")]
    private partial void LogEnvironment(string environment);

    [LoggerMessage(EventId = 5018, Level = LogLevel.Information, Message = "plug-in {Name} {Version}, from {File}")]
    private partial void LogPlugin(string name, string version, string file);

    [LoggerMessage(EventId = 5017, Level = LogLevel.Warning, Message = "{Warning}")]
    private partial void LogWarning(ConfigError warning);

    [LoggerMessage(EventId = 5011, Level = LogLevel.Information, Message = "transport {System}: {Durability}")]
    private partial void LogTransport(string system, string durability);

    [LoggerMessage(EventId = 5012, Level = LogLevel.Information, Message = "process {Process}: {Steps}")]
    private partial void LogProcess(string process, string steps);

    [LoggerMessage(EventId = 5013, Level = LogLevel.Information, Message = "endpoint {Endpoint}: {Description}")]
    private partial void LogEndpoint(string endpoint, string description);

    [LoggerMessage(EventId = 5014, Level = LogLevel.Information, Message = "send to {Address} ({Endpoint})")]
    private partial void LogSend(string address, string endpoint);

    [LoggerMessage(
        EventId = 5015,
        Level = LogLevel.Information,
        Message = "look with 'esb audit find', or at {Address} with the key in {KeyFile}"
    )]
    private partial void LogLook(Uri address, string keyFile);

    [LoggerMessage(EventId = 5016, Level = LogLevel.Information, Message = "{Name} is running; stop it with Ctrl-C")]
    private partial void LogRunning(string name);
}
