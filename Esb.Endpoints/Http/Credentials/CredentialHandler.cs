namespace Esb.Endpoints.Http.Credentials;

/// <summary>Puts the endpoint's own credential into each request, in the place of whatever stood there.</summary>
/// <param name="header">The header.</param>
/// <param name="value">Its value as it is now.</param>
internal sealed class CredentialHandler(string header, Func<string> value, HttpMessageHandler inner) : DelegatingHandler(inner)
{
    protected override Task<HttpResponseMessage> SendAsync(HttpRequestMessage request, CancellationToken cancellationToken)
    {
        request.Headers.Remove(header);
        request.Headers.TryAddWithoutValidation(header, value());
        return base.SendAsync(request, cancellationToken);
    }
}
