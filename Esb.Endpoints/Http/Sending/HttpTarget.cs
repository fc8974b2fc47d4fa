using System.Net;
using System.Text;
using Esb.Core.Certificates;
using Esb.Core.Pooling;
using Esb.Endpoints.Http.Credentials;
using Esb.Endpoints.Http.Relaying;
using Esb.Endpoints.Http.Servers;
using Esb.Endpoints.Http.Tls;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Http.Sending;

/// <summary>The external system of one http-outbound endpoint: its servers and its connections. Thread-safe.</summary>
internal sealed class HttpTarget : IAsyncDisposable
{
    public HttpTarget(HttpTargetingConfig config, TimeProvider time, ILoggerFactory loggers)
    {
        Name = config.Name;
        Servers = new HttpServers(config, time);
        Credential = TargetCredentials.Of(
            config,
            () => new HttpMessageInvoker(CreateHandler(ForTokens(config), time)),
            time,
            loggers.CreateLogger<HttpTarget>()
        );
        Client = new HttpMessageInvoker(
            TargetCredentials.Around(new FailOverHandler(Name, Servers, CreateHandler(config, time)), Credential)
        );
        Relays = new InstancePool<HttpRelay>(
            $"endpoint {config.Name}",
            () => new HttpRelay(this, time),
            new PoolLimits(config.PoolSize, config.PoolTimeout),
            time,
            loggers.CreateLogger<InstancePool<HttpRelay>>()
        );
    }

    /// <summary>The name of the endpoint.</summary>
    public string Name { get; }

    /// <summary>Its servers.</summary>
    public HttpServers Servers { get; }

    public HttpMessageInvoker Client { get; }

    /// <summary>The credential of the endpoint; null if it has none.</summary>
    public TargetCredential? Credential { get; }

    /// <summary>The pool of relays. Relays wait for a slot as long as deliveries and calls do.</summary>
    public InstancePool<HttpRelay> Relays { get; }

    public async ValueTask DisposeAsync()
    {
        Servers.Dispose();
        await Relays.DisposeAsync();
        Client.Dispose();
        Credential?.Dispose();
    }

    // The authorization server is another host, with a name of its own.
    private static HttpTargetingConfig ForTokens(HttpTargetingConfig config) =>
        config with
        {
            Tls = config.Tls is { } tls ? tls with { ServerName = null } : null,
        };

    // Automatic behaviour stays off: answers are returned as they are, and requests go where the configuration says. The exception is
    // decompression, because message bodies are never packed. The pool of instances, which an operator may resize, limits the number of
    // connections; a limit here could not change.
    private static SocketsHttpHandler CreateHandler(HttpTargetingConfig config, TimeProvider time) =>
        new()
        {
            SslOptions = TargetTls.Options(config.Tls ?? new ClientTlsConfig(), time.GetUtcNow()),
            UseProxy = false,
            UseCookies = false,
            AllowAutoRedirect = false,
            AutomaticDecompression = DecompressionMethods.All,
            PooledConnectionLifetime = config.KeepAlive ? config.ConnectionLifetime : TimeSpan.Zero,
            PooledConnectionIdleTimeout = config.IdleTimeout,
            ConnectTimeout = config.Timeout < config.ConnectTimeout ? config.Timeout : config.ConnectTimeout,
            RequestHeaderEncodingSelector = static (_, _) => Encoding.UTF8,
            ResponseHeaderEncodingSelector = static (_, _) => Encoding.UTF8,
        };
}
