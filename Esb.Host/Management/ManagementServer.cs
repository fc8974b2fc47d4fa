using System.Text.Json;
using System.Text.Json.Serialization;
using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Listening;
using Esb.Core.Parties;
using Esb.Endpoints.Http.Listening;
using Esb.Endpoints.Http.Tls;
using Esb.Host.Management.Activities;
using Esb.Host.Management.DeadLetters;
using Esb.Host.Management.Description;
using Esb.Host.Management.Events;
using Esb.Host.Management.Evidence;
using Esb.Host.Management.Farm;
using Esb.Host.Management.Flow;
using Esb.Host.Management.Itineraries;
using Esb.Host.Management.Logging;
using Esb.Host.Management.Marks;
using Esb.Host.Management.Messages;
using Esb.Host.Management.Metrics;
using Esb.Host.Management.Parking;
using Esb.Host.Management.Processes;
using Esb.Host.Management.Sessions;
using Esb.Host.Management.Traces;
using Esb.Host.Management.Validation;
using Esb.Host.Management.Versions;
using Esb.Host.Management.Workflows;
using Esb.Host.WebConsole;
using Microsoft.AspNetCore.Connections;

namespace Esb.Host.Management;

/// <summary>Serves the management API on a listener of its own.</summary>
/// <param name="bus">The services of the managed bus.</param>
/// <param name="keyFile">The path of the key file, which may not exist yet.</param>
internal sealed class ManagementServer(IServiceProvider bus, string keyFile) : IAsyncDisposable
{
    /// <summary>The JSON format of the API, for what is written or read outside its routes.</summary>
    public static readonly JsonSerializerOptions Json = MakeJson();

    private const int MaxConnections = 100;

    private readonly ManagementConfig _config = bus.GetRequiredService<Live<ManagementConfig>>().Current; // its address needs a restart
    private readonly ILogger _logger = bus.GetRequiredService<ILogger<ManagementServer>>();
    private WebApplication? _application;

    /// <summary>The listen address, once the server listens.</summary>
    public Uri Address => new(_application!.Urls.First());

    /// <summary>The path of the key file.</summary>
    public string KeyFile { get; } = Path.GetFullPath(keyFile);

    /// <summary>All routes, once the server listens.</summary>
    public IEnumerable<RouteEndpoint> Routes =>
        ((IEndpointRouteBuilder)_application!).DataSources.SelectMany(source => source.Endpoints).OfType<RouteEndpoint>();

    /// <exception cref="ConfigurationRefusedException">The port is in use, or the address does not belong to this machine.</exception>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        var errors = new ConfigErrors();
        var address = ListeningAddress.Parse(_config.Url, _config, "url", errors) ?? throw new ConfigurationRefusedException(errors.All);
        var live = bus.GetRequiredService<Live<ManagementConfig>>();
        _application = Build(address, new ManagementKeys(() => live.Current, KeyFile, bus.GetRequiredService<TimeProvider>(), _logger));
        try
        {
            await _application.StartAsync(cancellationToken);
        }
        catch (IOException ex)
        {
            var reason =
                ex.InnerException is AddressInUseException ? $"the port {address.Port} is in use" : $"cannot listen there: {ex.Message}";
            throw new ConfigurationRefusedException([
                new ConfigError("ESB-CFG-PORT", "management.url", $"\"{_config.Url}\"", reason, _config.Origin),
            ]);
        }
    }

    public async ValueTask DisposeAsync()
    {
        if (_application is not null)
            await _application.DisposeAsync();
    }

    private WebApplication Build(ListeningAddress address, ManagementKeys keys)
    {
        var handshakes = _config.Tls is { } tls
            ? TlsListening.HandshakesOf("management", tls, bus.GetRequiredService<TimeProvider>(), bus.GetRequiredService<ILoggerFactory>())
            : null;
        var builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
        builder
            .Services.AddSingleton(bus.GetRequiredService<ILoggerFactory>())
            .AddSingleton<IHostLifetime, BusLifetime>()
            .AddRoutingCore()
            .ConfigureHttpJsonOptions(json =>
            {
                Configure(json.SerializerOptions);
                json.SerializerOptions.Converters.Insert(0, new DeferredJson());
            });
        builder
            .WebHost.UseKestrelCore()
            .ConfigureKestrel(kestrel =>
            {
                kestrel.AddServerHeader = false;
                kestrel.Limits.MaxConcurrentConnections = MaxConnections;
                kestrel.Listen(
                    address.Address,
                    address.Port,
                    listen =>
                    {
                        if (handshakes is not null)
                            listen.UseHttps(handshakes);
                    }
                );
            });

        var application = builder.Build();
        var time = bus.GetRequiredService<TimeProvider>();
        var (brake, sessions) = (new GuessBrake(time), new ManagementSessions(keys, time));
        var pipeline = new ManagementPipeline(keys, sessions, brake, time, _logger);
        var live = bus.GetRequiredService<Live<ManagementConfig>>();
        var limits = bus.GetRequiredService<Live<LimitsConfig>>();
        application.Use(ManagementPipeline.ProtectAsync);
        application.Use((HttpContext context, RequestDelegate next) => ManagementPipeline.LimitBodyAsync(context, limits.Current, next));
        application.Use(pipeline.AnswerProblemsAsync);
        application.UseRouting();
        application.Use((HttpContext context, RequestDelegate next) => pipeline.RequireHostAsync(context, live.Current, next));
        application.Use(pipeline.RequireKeyAsync);
        application.Use(new CommandKeys(bus.GetService<Core.Storage.IIdempotencyKeys>(), time, _logger).RunAsync);
        application.MapHealth(bus);
        application.MapGroup("/api").MapWorkflowRoutes(bus).MapWorkflowBatchRoutes(bus).MapItineraryRoutes(bus);
        application.MapPrometheus(bus);
        application.MapConsole();
        application
            .MapGroup("/api")
            .MapSessionRoutes(sessions, new SignIn(keys, sessions, brake))
            .MapKeyRoutes(keys)
            .MapEventRoutes(bus)
            .MapHostRoutes(bus)
            .MapFlowRoutes(bus)
            .MapValidationRoutes(bus)
            .MapVersionRoutes(bus)
            .MapMarkRoutes(bus)
            .MapProcessRoutes(bus)
            .MapTraceRoutes(bus)
            .MapDescriptionRoutes(bus, () => Routes);
        application
            .MapGroup("/api")
            .MapEndpointRoutes(bus)
            .MapTopicRoutes(bus)
            .MapUnroutableRoutes(bus)
            .MapOutboxRoutes(bus)
            .MapMessageRoutes(bus)
            .MapErasureRoutes(bus)
            .MapEvidenceRoutes(bus)
            .MapEncryptionRoutes(bus)
            .MapDeadLetterRoutes(bus)
            .MapReplayRoutes(bus)
            .MapParkedRoutes(bus)
            .MapConfigurationRoutes(bus)
            .MapActivityRoutes(bus)
            .MapMetricsRoutes(bus)
            .MapLogRoutes(bus);
        return application;
    }

    private static JsonSerializerOptions MakeJson()
    {
        var options = new JsonSerializerOptions();
        Configure(options);
        return options;
    }

    /// <summary>The JSON format of the API and its clients.</summary>
    public static void Configure(JsonSerializerOptions options)
    {
        options.PropertyNamingPolicy = JsonNamingPolicy.CamelCase;
        options.DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull;
        options.Encoder = JsonStyle.Readable.Encoder;
        options.Converters.Add(new JsonStringEnumConverter(JsonNamingPolicy.KebabCaseLower));
    }
}
