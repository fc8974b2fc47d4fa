using System.Diagnostics;
using System.Net.Sockets;
using System.Text;
using Esb.Core.Certificates;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Listening;
using Esb.Endpoints.Http.Proxies;
using Esb.Endpoints.Http.Receiving;
using Esb.Endpoints.Http.Refusals;
using Esb.Endpoints.Http.Tls;
using Esb.Endpoints.Http.Transport;
using Esb.Endpoints.Http.Wire;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.AspNetCore.Server.Kestrel.Transport.Sockets;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Http.Listening;

/// <summary>One listener: its own web server, with the limits of a public one.</summary>
internal sealed partial class KestrelListener(ListenerConfig config, TimeProvider time, ILoggerFactory loggers) : IAsyncDisposable
{
    private readonly ILogger _logger = loggers.CreateLogger<KestrelListener>();
    private readonly RefusedRequests _refused = new(config.Name);
    private volatile Served _served = Served.Of(config, new HttpRoutes([]));
    private WebApplication? _application;

    /// <summary>The settings that it was opened with.</summary>
    public ListenerConfig Config => config;

    /// <exception cref="ConfigurationRefusedException">The port is in use, or the address does not belong to this machine.</exception>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        var errors = new ConfigErrors();
        var address = ListeningAddress.Parse(config.Url, config, "url", errors) ?? throw new ConfigurationRefusedException(errors.All);
        _application = Build(address, SecureOrNull());
        try
        {
            await _application.StartAsync(cancellationToken);
        }
        catch (Exception ex) when (ex is IOException or SocketException)
        {
            var reason =
                ex.InnerException is AddressInUseException ? $"the port {address.Port} is in use" : $"cannot listen there: {ex.Message}";
            throw new ConfigurationRefusedException([
                new ConfigError("ESB-CFG-PORT", $"{config.Path}.url", $"\"{config.Url}\"", reason, config.Origin),
            ]);
        }

        LogListening(config.Name, config.Url);
        if (address is { IsLoopback: false, IsTls: false })
            LogExposed(config.Name, config.Url);
    }

    /// <summary>Serves these routes from now on, to the hosts and behind the proxies of these settings.</summary>
    public void Serve(ListenerConfig settings, HttpRoutes routes) => _served = Served.Of(settings, routes);

    /// <summary>Accepts no new connections and lets requests in progress finish, until the token is cancelled.</summary>
    public Task StopAsync(CancellationToken cancellationToken) => _application?.StopAsync(cancellationToken) ?? Task.CompletedTask;

    public ValueTask DisposeAsync() => _application?.DisposeAsync() ?? ValueTask.CompletedTask;

    private ListenerTls? SecureOrNull()
    {
        try
        {
            return config.Tls is { } tls
                ? new ListenerTls(config.Name, tls, config.Versions, time, loggers.CreateLogger<ListenerTls>())
                : null;
        }
        catch (CertificateException ex) // changed since it was checked
        {
            throw new ConfigurationRefusedException([
                new ConfigError("ESB-CFG-CERT", $"{config.Path}.tls.certificate", null, ex.Message, config.Origin),
            ]);
        }
    }

    private WebApplication Build(ListeningAddress address, ListenerTls? tls)
    {
        var builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
        builder
            .Services.AddSingleton<ILoggerFactory>(new ListenerLoggers(loggers))
            .AddSingleton<IHostLifetime, BusLifetime>()
            .AddSingleton<DiagnosticSource>(_refused);
        builder
            .WebHost.UseKestrelCore()
            .ConfigureKestrel(kestrel =>
            {
                kestrel.AddServerHeader = false;
                kestrel.RequestHeaderEncodingSelector = ConnectionOptions.Select;
                kestrel.ResponseHeaderEncodingSelector = static _ => Encoding.UTF8;
                ListenerLimits.Apply(kestrel.Limits, config);
                kestrel.Listen(
                    address.Address,
                    address.Port,
                    listen =>
                    {
                        listen.Protocols = ProtocolsOf(config.Versions, tls is not null);
                        if (tls is not null)
                            listen.UseHttps(tls.Handshakes);
                        listen.UseRefusalBodies();
                    }
                );
            });
        var memory = new ListenerMemory();
        if (Epoll.IsSupported)
            builder.Services.AddSingleton<IConnectionListenerFactory>(new PolledTransport(config.Backlog, memory));
        else
            builder.WebHost.UseSockets(sockets => Tune(sockets, config));
        // replaces the server's own, registered by the lines above
        builder.Services.AddSingleton<IMemoryPoolFactory<byte>>(memory);
        var application = builder.Build();
        application.Run(AnswerAsync);
        return application;
    }

    private static void Tune(SocketTransportOptions sockets, ListenerConfig config)
    {
        sockets.Backlog = config.Backlog;

        // Requests run on the pool thread that has read them, which saves a hop each way. A blocking step delays its own connection only;
        // other threads handle other socket events.
        sockets.UnsafePreferInlineScheduling = true;
    }

    // Only TLS can negotiate the version.
    private static HttpProtocols ProtocolsOf(HttpVersions versions, bool hasTls) =>
        versions switch
        {
            HttpVersions.Http2 => HttpProtocols.Http2,
            HttpVersions.Any when hasTls => HttpProtocols.Http1AndHttp2,
            _ => HttpProtocols.Http1,
        };

    private async Task AnswerAsync(HttpContext context)
    {
        var served = _served;
        HttpRoute? route = null;
        try
        {
            served.Hosts.Require(context.Request);
            Http2Fields.Require(context.Request);
            HttpContentRules.RequireOneLength(context.Request);
            ProtocolChanges.Refuse(context);
            RequestPaths.RequirePlain(context);
            served.Proxies.Resolve(context);
            route = served.Routes.Find(context);
            await route.HandleAsync(context);
        }
        catch (EsbException ex)
        {
            if (route is null)
                _refused.Count(ex.Code);
            await HttpProblems.WriteAsync(context, ex, route?.Failures ?? HttpProblems.Instance);
        }
        catch (Exception ex) when (context.RequestAborted.IsCancellationRequested)
        {
            LogAborted(ex);
        }
        catch (Exception ex)
        {
            LogUnforeseen(context.Request.Path, ex);
            await HttpProblems.WriteAsync(
                context,
                HttpProblems.Of(StatusCodes.Status500InternalServerError, "ESB-HTTP-FAILED", "The request could not be worked on.", ex),
                route?.Failures ?? HttpProblems.Instance
            );
        }
    }

    // What a reload exchanges while the socket stays.
    private sealed record Served(AllowedHosts Hosts, TrustedProxies Proxies, HttpRoutes Routes)
    {
        public static Served Of(ListenerConfig settings, HttpRoutes routes) =>
            new(new AllowedHosts(settings.Hosts), new TrustedProxies(settings.TrustedProxies), routes);
    }

    [LoggerMessage(EventId = 2101, Level = LogLevel.Information, Message = "Listener {Listener} listens at {Url}")]
    private partial void LogListening(string listener, string url);

    [LoggerMessage(
        EventId = 2102,
        Level = LogLevel.Warning,
        Message = "Listener {Listener} can be reached from other machines, without TLS: {Url}"
    )]
    private partial void LogExposed(string listener, string url);

    [LoggerMessage(EventId = 2103, Level = LogLevel.Debug, Message = "A caller hung up")]
    private partial void LogAborted(Exception exception);

    [LoggerMessage(EventId = 2104, Level = LogLevel.Error, Message = "A request for {Path} failed")]
    private partial void LogUnforeseen(string path, Exception exception);
}
