using System.Text;
using Esb.Core.Certificates;
using Esb.Core.Pooling;
using Esb.Endpoints.Http.Credentials;
using Esb.Endpoints.Http.Tls;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Http;

/// <summary>The outside of one http-outbound endpoint: its address and its connections. Thread-safe.</summary>
internal sealed class HttpTarget : IAsyncDisposable
{
    private static readonly TimeSpan LongestConnect = TimeSpan.FromSeconds(10);

    public HttpTarget(HttpOutboundConfig config, TimeProvider time, ILoggerFactory loggers)
    {
        Name = config.Name;
        Url = new Uri(config.Url);
        Client = new HttpMessageInvoker(TargetCredentials.Around(CreateHandler(config, time), config, time, loggers.CreateLogger<HttpTarget>()));
        Relays = new InstancePool<HttpRelay>(
            $"endpoint {config.Name}", () => new HttpRelay(this, time), new PoolLimits(config.PoolSize, config.PoolTimeout), time, loggers.CreateLogger<InstancePool<HttpRelay>>());
    }

    /// <summary>The name of the endpoint.</summary>
    public string Name { get; }

    public Uri Url { get; }

    public HttpMessageInvoker Client { get; }

    /// <summary>Relays wait for a place as long as deliveries and calls do.</summary>
    public InstancePool<HttpRelay> Relays { get; }

    public async ValueTask DisposeAsync()
    {
        await Relays.DisposeAsync();
        Client.Dispose();
    }

    // Everything that would act on its own stays off: what the outside says is the answer, and goes where the configuration says.
    private static SocketsHttpHandler CreateHandler(HttpOutboundConfig config, TimeProvider time) => new()
    {
        SslOptions = TargetTls.Options(config.Tls ?? new ClientTlsConfig(), time.GetUtcNow()),
        UseProxy = false,
        UseCookies = false,
        AllowAutoRedirect = false,
        AutomaticDecompression = System.Net.DecompressionMethods.None,
        MaxConnectionsPerServer = config.PoolSize,
        PooledConnectionLifetime = TimeSpan.FromMinutes(2), // then names are looked up again
        ConnectTimeout = config.Timeout < LongestConnect ? config.Timeout : LongestConnect,
        RequestHeaderEncodingSelector = static (_, _) => Encoding.UTF8,
        ResponseHeaderEncodingSelector = static (_, _) => Encoding.UTF8,
    };
}
