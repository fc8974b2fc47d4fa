using System.Net;
using Esb.Endpoints.Http.Sending;

namespace Esb.Endpoints.Http.Credentials;

/// <summary>Sets the endpoint's own credential on each request, replacing any existing value. A request refused with 401 is sent once more
/// if the credential can be renewed.</summary>
internal sealed class CredentialHandler(TargetCredential credential, HttpMessageHandler inner) : DelegatingHandler(inner)
{
    protected override async Task<HttpResponseMessage> SendAsync(HttpRequestMessage request, CancellationToken cancellationToken)
    {
        var value = await credential.CurrentAsync(cancellationToken);
        var response = await SendAsync(request, value, cancellationToken);
        if (response.StatusCode != HttpStatusCode.Unauthorized || !credential.Refuse(value) || !StreamedContent.CanRepeat(request))
            return response;
        response.Dispose();
        return await SendAsync(request, await credential.CurrentAsync(cancellationToken), cancellationToken);
    }

    private Task<HttpResponseMessage> SendAsync(HttpRequestMessage request, string value, CancellationToken cancellationToken)
    {
        request.Headers.Remove(credential.Header);
        request.Headers.TryAddWithoutValidation(credential.Header, value);
        return base.SendAsync(request, cancellationToken);
    }
}
