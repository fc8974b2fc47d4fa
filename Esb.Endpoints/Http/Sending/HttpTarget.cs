using System.Net;
using System.Net.Security;
using System.Text;
using Esb.Core.Certificates;
using Esb.Core.Pooling;
using Esb.Endpoints.Http.Credentials;
using Esb.Endpoints.Http.Outside;
using Esb.Endpoints.Http.Receiving;
using Esb.Endpoints.Http.Relaying;
using Esb.Endpoints.Http.Tls;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Http.Sending;

/// <summary>The external system of one http-outbound endpoint: its address and its connections. Thread-safe.</summary>
internal sealed class HttpTarget : IAsyncDisposable
{
    private readonly byte[] _path;
    private readonly byte[] _host;

    public HttpTarget(HttpOutboundConfig config, TimeProvider time, ILoggerFactory loggers)
    {
        Name = config.Name;
        Url = new Uri(config.Url);
        Credential = TargetCredentials.Of(config, time, loggers.CreateLogger<HttpTarget>());
        Client = new HttpMessageInvoker(TargetCredentials.Around(CreateHandler(config, time), Credential));
        Connections = new OutsideConnections(new OutsideConnector(Url, config.ConnectTimeout, TlsOf(config, time), time), config, time);
        _path = Encoding.ASCII.GetBytes(Url.PathAndQuery);
        _host = Encoding.ASCII.GetBytes(Url.IsDefaultPort ? HostOf(Url) : $"{HostOf(Url)}:{Url.Port}");
        Relays = new InstancePool<HttpRelay>(
            $"endpoint {config.Name}", () => new HttpRelay(this, time), new PoolLimits(config.PoolSize, config.PoolTimeout), time, loggers.CreateLogger<InstancePool<HttpRelay>>());
    }

    /// <summary>The name of the endpoint.</summary>
    public string Name { get; }

    public Uri Url { get; }

    public HttpMessageInvoker Client { get; }

    /// <summary>The credential of the endpoint; null if it has none.</summary>
    public TargetCredential? Credential { get; }

    /// <summary>The pool of relays. Relays wait for a slot as long as deliveries and calls do.</summary>
    public InstancePool<HttpRelay> Relays { get; }

    /// <summary>The connections of relays.</summary>
    public OutsideConnections Connections { get; }

    /// <summary>Writes the request line of HTTP/1.1: the path of the URL, with the caller's query after its own.</summary>
    /// <exception cref="Core.Errors.EsbException">The query has invalid content (RFC 3986, section 3.4).</exception>
    public void WriteRequestLine(TextBuffer head, string method, QueryString query)
    {
        head.Write(method);
        head.Write(" "u8);
        head.Write(_path);
        if (query is { HasValue: true, Value: { Length: > 1 } asked })
        {
            if (asked.AsSpan().ContainsAnyExceptInRange('!', '~') || asked.Contains('#', StringComparison.Ordinal))
                throw HttpProblems.Of(StatusCodes.Status400BadRequest, "ESB-HTTP-REQUEST", "The query has characters that no query may have.");
            head.Write(Url.Query.Length == 0 ? "?"u8 : "&"u8);
            head.Write(asked.AsSpan(1));
        }

        head.Write(" HTTP/1.1\r\nHost: "u8);
        head.Write(_host);
        head.Write("\r\n"u8);
    }

    public async ValueTask DisposeAsync()
    {
        Connections.Dispose();
        await Relays.DisposeAsync();
        Client.Dispose();
    }

    // An IPv6 address in brackets and without its zone, which is meaningless to the external system (RFC 3986, section 3.2.2; RFC 6874).
    private static string HostOf(Uri url) => url.HostNameType == UriHostNameType.IPv6 ? url.Host : url.IdnHost;

    private SslClientAuthenticationOptions TlsOf(HttpOutboundConfig config, TimeProvider time)
    {
        var options = TargetTls.Options(config.Tls ?? new ClientTlsConfig(), time.GetUtcNow());
        options.TargetHost = Url.IdnHost;
        options.ApplicationProtocols = [SslApplicationProtocol.Http11];
        return options;
    }

    // Automatic behaviour stays off: answers are returned as they are, and requests go where the configuration says. The exception is
    // decompression, because message bodies are never packed. The pool of instances, which an operator may resize, limits the number of
    // connections; a limit here could not change.
    private static SocketsHttpHandler CreateHandler(HttpOutboundConfig config, TimeProvider time) => new()
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
