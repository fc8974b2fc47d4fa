using Esb.Core.Errors;
using Esb.Endpoints.Http.Idempotency;
using Esb.Endpoints.Http.Sending;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Servers;

/// <summary>Sends each request to one of the servers of an endpoint, and to the next one if that is unreachable. A request whose answer was
/// lost is sent again only if that is safe (RFC 9110, section 9.2.2), or if it has an <c>Idempotency-Key</c>.</summary>
internal sealed class FailOverHandler(string endpoint, HttpServers servers, HttpMessageHandler inner) : DelegatingHandler(inner)
{
    /// <summary>True if a request may be sent to another server after this failure.</summary>
    /// <param name="failure">The failure.</param>
    /// <param name="isRepeatable">True if the request may be carried out twice.</param>
    public static bool MayPassOn(EndpointException failure, bool isRepeatable) =>
        failure.IsOutage || (failure.IsUnanswered && isRepeatable);

    /// <summary>True if a method may be carried out twice.</summary>
    public static bool IsRepeatable(string method) =>
        HttpMethods.IsGet(method)
        || HttpMethods.IsHead(method)
        || HttpMethods.IsPut(method)
        || HttpMethods.IsDelete(method)
        || HttpMethods.IsOptions(method);

    protected override async Task<HttpResponseMessage> SendAsync(HttpRequestMessage request, CancellationToken cancellationToken)
    {
        if (!servers.Serve(request.RequestUri!))
            return await base.SendAsync(request, cancellationToken);
        var isRepeatable =
            StreamedContent.CanRepeat(request)
            && (IsRepeatable(request.Method.Method) || request.Headers.NonValidated.Contains(IdempotencyHeader.Name));
        var turn = servers.Begin();
        var server = turn.Next()!;
        while (true)
        {
            request.RequestUri = server.Move(request.RequestUri!);
            try
            {
                return await base.SendAsync(request, cancellationToken);
            }
            catch (Exception ex) when (HttpFailures.Of(endpoint, server.Url, ex, cancellationToken) is { } failure)
            {
                server.NoteFailure();
                if (!MayPassOn(failure, isRepeatable) || turn.Next() is not { } next)
                    throw;
                server = next;
            }
        }
    }
}
