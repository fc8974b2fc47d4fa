using Microsoft.AspNetCore.Server.Kestrel.Core;

namespace Esb.Endpoints.Http.Listening;

/// <summary>The limits of a public web server, independent of its endpoints.</summary>
internal static class ListenerLimits
{
    public const int MaxRequestLineBytes = 8 * 1024;
    public const int MaxHeaderBytes = 16 * 1024;
    public const int MaxHeaders = 64;

    /// <summary>The maximum number of concurrent streams of an HTTP/2 connection. A caller that opens and drops many more loses its
    /// connection.</summary>
    public const int MaxStreams = 100;

    // The flow-control window of a stream. The window of a connection holds twice the windows of all streams, because the server announces
    // new room only when half of it is free: otherwise waiting streams (for a slot of their endpoint, for instance) would block an active
    // stream, and all of them for ever.
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
