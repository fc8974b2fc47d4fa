using Esb.Endpoints.Http.Wire;

namespace Esb.Endpoints.Http.Targets;

/// <summary>What requests to one place have in common, made once. Immutable.</summary>
internal sealed class HttpDestination(string url, string method)
{
    public Uri Url { get; } = new(url);

    public HttpMethod Method { get; } = HttpMethod.Parse(method);

    /// <summary>Whether a request is sent with a body even where that is empty.</summary>
    public bool HasBody { get; } = HttpMethodNames.HasBody(method);

    /// <summary>Whether a request may change something.</summary>
    public bool HasEffect { get; } = HttpMethodNames.HasEffect(method);

    public bool IsMadeOf(string otherUrl, string otherMethod) => Url.OriginalString == otherUrl && Method.Method == otherMethod;
}
