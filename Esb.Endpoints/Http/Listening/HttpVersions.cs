using System.Text.Json.Serialization;

namespace Esb.Endpoints.Http.Listening;

/// <summary>The HTTP versions of a listener.</summary>
internal enum HttpVersions
{
    /// <summary>With TLS either version, as negotiated; without TLS HTTP/1.1 and 1.0, because only TLS negotiates the version.</summary>
    Any,

    /// <summary>HTTP/1.1 and 1.0.</summary>
    [JsonStringEnumMemberName("http1")]
    Http1,

    /// <summary>HTTP/2; without TLS only for callers with prior knowledge (RFC 9113, section 3.3).</summary>
    [JsonStringEnumMemberName("http2")]
    Http2,
}
