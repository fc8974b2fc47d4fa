using System.Text.Json.Serialization;

namespace Esb.Endpoints.Http.Listening;

/// <summary>The versions of HTTP that a listener speaks.</summary>
internal enum HttpVersions
{
    /// <summary>Over TLS either, as the caller wishes; without it HTTP/1.1 and 1.0, as only TLS can tell.</summary>
    Any,

    /// <summary>HTTP/1.1 and 1.0.</summary>
    [JsonStringEnumMemberName("http1")]
    Http1,

    /// <summary>HTTP/2: without TLS from callers that know of it beforehand (RFC 9113, section 3.3).</summary>
    [JsonStringEnumMemberName("http2")]
    Http2,
}
