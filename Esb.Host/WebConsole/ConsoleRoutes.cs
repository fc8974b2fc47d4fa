using Esb.Host.Management;
using Microsoft.Net.Http.Headers;

namespace Esb.Host.WebConsole;

/// <summary>Serves the console at <c>/</c> and its files below <c>/console</c>. They hold no secrets and need no key; what they show
/// does.</summary>
internal static class ConsoleRoutes
{
    // No script and no style but ours, no connection but to this host, no frame around it.
    private const string Policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; "
        + "form-action 'none'; frame-ancestors 'none'";

    public static void MapConsole(this IEndpointRouteBuilder routes)
    {
        routes.MapGet("/", (HttpContext context) => Send(context, ConsoleFiles.Index)).WithMetadata(new OpenRoute());
        routes.MapGet("/console/{**path}", (string path, HttpContext context) => Send(context, path)).WithMetadata(new OpenRoute());
    }

    private static IResult Send(HttpContext context, string path)
    {
        if (!ConsoleFiles.All.TryGetValue(path, out var file))
            throw Problems.NotFound("The console has no such file.");
        var headers = context.Response.Headers;
        headers.ContentSecurityPolicy = Policy;
        headers["Referrer-Policy"] = "no-referrer";
        headers.CacheControl = "no-cache"; // asked each time by the tag, so that an update is seen at once
        headers.ETag = file.Tag;
        headers.Vary = HeaderNames.AcceptEncoding;
        if (context.Request.Headers.IfNoneMatch.ToString().Contains(file.Tag, StringComparison.Ordinal))
            return TypedResults.StatusCode(StatusCodes.Status304NotModified);
        if (!context.Request.Headers.AcceptEncoding.ToString().Contains("gzip", StringComparison.OrdinalIgnoreCase))
            return TypedResults.Bytes(file.Bytes, file.ContentType);
        headers.ContentEncoding = "gzip";
        return TypedResults.Bytes(file.Compressed, file.ContentType);
    }
}
