using Microsoft.AspNetCore.Server.Kestrel.Core;

namespace Esb.Endpoints.Http;

/// <summary>The limits of a public web server, whatever its endpoints are.</summary>
internal static class ListenerLimits
{
    public const int MaxRequestLineBytes = 8 * 1024;
    public const int MaxHeaderBytes = 16 * 1024;
    public const int MaxHeaders = 64;

    /// <summary>Streams of a connection of HTTP/2 at once. A caller that begins and drops many more than that loses its connection.</summary>
    public const int MaxStreams = 100;

    public static void Apply(KestrelServerLimits limits, ListenerConfig config)
    {
        limits.MaxConcurrentConnections = config.MaxConnections;
        limits.MaxRequestLineSize = MaxRequestLineBytes;
        limits.MaxRequestHeadersTotalSize = MaxHeaderBytes;
        limits.MaxRequestHeaderCount = MaxHeaders;
        limits.MaxRequestBodySize = null; // each endpoint has its own
        limits.RequestHeadersTimeout = config.HeadTimeout;
        limits.KeepAliveTimeout = config.IdleTimeout;
        limits.MinRequestBodyDataRate = new MinDataRate(config.MinBodyRate.Bytes, config.BodyTimeout);
        limits.MinResponseDataRate = limits.MinRequestBodyDataRate;
        limits.Http2.MaxStreamsPerConnection = MaxStreams;
        limits.Http2.MaxRequestHeaderFieldSize = MaxRequestLineBytes;
    }
}
