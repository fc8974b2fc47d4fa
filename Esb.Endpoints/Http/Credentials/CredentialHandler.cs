namespace Esb.Endpoints.Http.Credentials;

/// <summary>Sets the endpoint's own credential on each request, replacing any existing value.</summary>
/// <param name="header">The header.</param>
/// <param name="value">Returns its current value.</param>
internal sealed class CredentialHandler(string header, Func<string> value, HttpMessageHandler inner) : DelegatingHandler(inner)
{
    protected override Task<HttpResponseMessage> SendAsync(HttpRequestMessage request, CancellationToken cancellationToken)
    {
        request.Headers.Remove(header);
        request.Headers.TryAddWithoutValidation(header, value());
        return base.SendAsync(request, cancellationToken);
    }
}
