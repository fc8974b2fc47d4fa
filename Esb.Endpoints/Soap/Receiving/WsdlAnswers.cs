using Esb.Content.Wsdl;
using Esb.Endpoints.Http.Receiving;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Soap.Receiving;

/// <summary>Answers requests for the documents of a service. Thread-safe.</summary>
internal sealed class WsdlAnswers(WsdlPages pages)
{
    /// <exception cref="Core.Errors.EsbException"><c>ESB-HTTP-METHOD</c>: the query asks for no document.</exception>
    public async Task WriteAsync(HttpContext context, CancellationToken aborting)
    {
        var request = context.Request;
        if (pages.Find(request.QueryString.Value ?? "", AddressOf(context)) is not { } page)
        {
            context.Response.Headers.Allow = "POST";
            throw HttpProblems.Of(
                StatusCodes.Status405MethodNotAllowed,
                "ESB-HTTP-METHOD",
                "A service of SOAP is called by POST; its WSDL is at ?wsdl."
            );
        }

        context.Response.ContentType = "text/xml; charset=utf-8";
        context.Response.ContentLength = page.Length;
        await context.Response.Body.WriteAsync(page, aborting);
    }

    // A caller of HTTP/1.0 may name no host.
    private static string AddressOf(HttpContext context)
    {
        var request = context.Request;
        var connection = context.Connection;
        var host = request.Host.HasValue ? request.Host.ToUriComponent() : $"{connection.LocalIpAddress}:{connection.LocalPort}";
        return $"{request.Scheme}://{host}{request.Path.ToUriComponent()}";
    }
}
