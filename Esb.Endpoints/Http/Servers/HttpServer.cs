using System.Net.Security;
using System.Text;
using Esb.Core.Certificates;
using Esb.Endpoints.Http.Outside;
using Esb.Endpoints.Http.Receiving;
using Esb.Endpoints.Http.Sending;
using Esb.Endpoints.Http.Tls;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Servers;

/// <summary>One server of an http-outbound endpoint: its address, the connections of relays, and its health as the last requests showed it.
/// Thread-safe.</summary>
internal sealed class HttpServer : IDisposable
{
    private static readonly UriCreationOptions AsWritten = new() { DangerousDisablePathAndQueryCanonicalization = true };

    // After a failure requests go to other servers for this time; then the next request tries it again.
    private static readonly TimeSpan Rest = TimeSpan.FromSeconds(5);

    private readonly TimeProvider _time;
    private readonly byte[] _path;
    private readonly byte[] _host;
    private long _failedAt;

    public HttpServer(string address, HttpTargetingConfig config, TimeProvider time)
    {
        _time = time;
        Url = new Uri(address);
        Authority = Url.GetLeftPart(UriPartial.Authority);
        Connections = new OutsideConnections(new OutsideConnector(Url, config.ConnectTimeout, TlsOf(config), time), config, time);
        _path = Encoding.ASCII.GetBytes(Url.PathAndQuery);
        _host = Encoding.ASCII.GetBytes(Url.IsDefaultPort ? HostOf(Url) : $"{HostOf(Url)}:{Url.Port}");
    }

    public Uri Url { get; }

    /// <summary>Scheme, host and port.</summary>
    public string Authority { get; }

    /// <summary>The connections of relays.</summary>
    public OutsideConnections Connections { get; }

    /// <summary>True for 5 s after a failure.</summary>
    public bool IsResting => Volatile.Read(ref _failedAt) is not 0 and var failedAt && _time.GetElapsedTime(failedAt) < Rest;

    /// <summary>Notes that the server was unreachable, or lost a request.</summary>
    public void NoteFailure() => Volatile.Write(ref _failedAt, _time.GetTimestamp());

    /// <summary>Returns the address of a request at this server; its path and query stay as they are written.</summary>
    public Uri Move(Uri address)
    {
        var authority = address.GetLeftPart(UriPartial.Authority);
        return authority == Authority ? address : new Uri(Authority + address.OriginalString[authority.Length..], AsWritten);
    }

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
                throw HttpProblems.Of(
                    StatusCodes.Status400BadRequest,
                    "ESB-HTTP-REQUEST",
                    "The query has characters that no query may have."
                );
            head.Write(Url.Query.Length == 0 ? "?"u8 : "&"u8);
            head.Write(asked.AsSpan(1));
        }

        head.Write(" HTTP/1.1\r\nHost: "u8);
        head.Write(_host);
        head.Write("\r\n"u8);
    }

    /// <summary>Writes the request line of HTTP/1.1 for a message.</summary>
    /// <param name="head">Receives it.</param>
    /// <param name="method">The method.</param>
    /// <param name="url">The address whose path and query are asked for; null for those of the server.</param>
    public void WriteRequestLineTo(TextBuffer head, string method, Uri? url)
    {
        head.Write(method);
        head.Write(" "u8);
        if (url is null)
            head.Write(_path);
        else
            head.Write(url.PathAndQuery);
        head.Write(" HTTP/1.1\r\nHost: "u8);
        head.Write(_host);
        head.Write("\r\n"u8);
    }

    public void Dispose() => Connections.Dispose();

    // An IPv6 address in brackets and without its zone, which is meaningless to the external system (RFC 3986, section 3.2.2; RFC 6874).
    private static string HostOf(Uri url) => url.HostNameType == UriHostNameType.IPv6 ? url.Host : url.IdnHost;

    private SslClientAuthenticationOptions TlsOf(HttpTargetingConfig config)
    {
        var options = TargetTls.Options(config.Tls ?? new ClientTlsConfig(), _time.GetUtcNow());
        options.TargetHost = Url.IdnHost;
        options.ApplicationProtocols = [SslApplicationProtocol.Http11];
        return options;
    }
}
