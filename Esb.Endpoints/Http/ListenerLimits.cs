using Microsoft.AspNetCore.Server.Kestrel.Core;

namespace Esb.Endpoints.Http;

/// <summary>The limits of a public web server, whatever its endpoints are.</summary>
internal static class ListenerLimits
{
    public const int MaxRequestLineBytes = 8 * 1024;
    public const int MaxHeaderBytes = 16 * 1024;
    public const int MaxHeaders = 64;

    public static void Apply(KestrelServerLimits limits, int maxConnections)
    {
        limits.MaxConcurrentConnections = maxConnections;
        limits.MaxRequestLineSize = MaxRequestLineBytes;
        limits.MaxRequestHeadersTotalSize = MaxHeaderBytes;
        limits.MaxRequestHeaderCount = MaxHeaders;
        limits.MaxRequestBodySize = null; // each endpoint has its own
        limits.RequestHeadersTimeout = TimeSpan.FromSeconds(10);
        limits.KeepAliveTimeout = TimeSpan.FromSeconds(60);
        limits.MinRequestBodyDataRate = new MinDataRate(bytesPerSecond: 240, gracePeriod: TimeSpan.FromSeconds(5));
    }
}
