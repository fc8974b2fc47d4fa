using System.Net;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;

namespace SideBySide.Bare;

/// <summary>The least that a relay in .NET can be: bodies streamed both ways, two headers passed on, nothing decided.</summary>
internal static class BareRelay
{
    public static void Map(WebApplication application, string target)
    {
        var client = new HttpMessageInvoker(
            new SocketsHttpHandler
            {
                UseProxy = false,
                UseCookies = false,
                AllowAutoRedirect = false,
                AutomaticDecompression = DecompressionMethods.None,
            }
        );
        var address = new Uri(target);

        application.MapPost(
            "/relay",
            async context =>
            {
                using var request = new HttpRequestMessage(HttpMethod.Post, address) { Content = new StreamContent(context.Request.Body) };
                request.Content.Headers.ContentLength = context.Request.ContentLength;
                request.Content.Headers.TryAddWithoutValidation("Content-Type", context.Request.ContentType);
                using var response = await client.SendAsync(request, context.RequestAborted);
                context.Response.StatusCode = (int)response.StatusCode;
                context.Response.ContentLength = response.Content.Headers.ContentLength;
                context.Response.ContentType = response.Content.Headers.ContentType?.ToString();
                await response.Content.CopyToAsync(context.Response.Body, context.RequestAborted);
            }
        );
    }
}
