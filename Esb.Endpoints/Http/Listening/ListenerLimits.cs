using Microsoft.AspNetCore.Server.Kestrel.Core;

namespace Esb.Endpoints.Http.Listening;

/// <summary>The limits of a public web server, whatever its endpoints are.</summary>
internal static class ListenerLimits
{
    public const int MaxRequestLineBytes = 8 * 1024;
    public const int MaxHeaderBytes = 16 * 1024;
    public const int MaxHeaders = 64;

    /// <summary>Streams of a connection of HTTP/2 at once. A caller that begins and drops many more than that loses its connection.</summary>
    public const int MaxStreams = 100;

    // What a stream may send ahead of whoever reads it. That of the connection has room for all streams at once, twice over: the server tells the caller of new room only once half of it is there,
    // so that streams which wait (for a place of their endpoint, for instance) would stop one that is read, and all of them for ever.
    private const int StreamWindowBytes = 64 * 1024;
    private const int ConnectionWindowBytes = 2 * MaxStreams * StreamWindowBytes;

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
        limits.Http2.InitialStreamWindowSize = StreamWindowBytes;
        limits.Http2.InitialConnectionWindowSize = ConnectionWindowBytes;
    }
}
