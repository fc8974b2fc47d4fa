namespace Esb.Endpoints.Http.Targets;

/// <summary>The common parts of requests to one address, created once. Immutable.</summary>
internal sealed class HttpDestination(string url, string method)
{
    public Uri Url { get; } = new(url);

    public HttpMethod Method { get; } = HttpMethod.Parse(method);

    /// <summary>Scheme and host, which no message changes.</summary>
    public string Authority { get; } = new Uri(url).GetLeftPart(UriPartial.Authority);

    public bool IsMadeOf(string otherUrl, string otherMethod) => Url.OriginalString == otherUrl && Method.Method == otherMethod;
}
