using Esb.Endpoints.Http.Wire;

namespace Esb.Endpoints.Http.Targets;

/// <summary>The common parts of requests to one address, created once. Immutable.</summary>
internal sealed class HttpDestination(string url, string method)
{
    public Uri Url { get; } = new(url);

    public HttpMethod Method { get; } = HttpMethod.Parse(method);

    /// <summary>True if a request is sent with a body even if the body is empty.</summary>
    public bool HasBody { get; } = HttpMethodNames.HasBody(method);

    /// <summary>True if a request may change something.</summary>
    public bool HasEffect { get; } = HttpMethodNames.HasEffect(method);

    public bool IsMadeOf(string otherUrl, string otherMethod) => Url.OriginalString == otherUrl && Method.Method == otherMethod;
}
