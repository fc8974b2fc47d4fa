using Esb.Core.Errors;

namespace Esb.Host.Management;

/// <summary>The pipeline of every management API request: protective response headers, the key check, and one error format.</summary>
internal sealed partial class ManagementPipeline(ManagementKey key, ILogger logger)
{
    public const string KeyHeader = "X-Esb-Key";

    public async Task AnswerProblemsAsync(HttpContext context, RequestDelegate next)
    {
        try
        {
            await next(context);
            if (context.Response is { HasStarted: false, StatusCode: >= 400, ContentType: null }) await DescribeStatus(context.Response.StatusCode).ExecuteAsync(context);
        }
        catch (EsbException ex)
        {
            var status = ex.Status ?? Faults.StatusOf(ex.Kind);
            if (status >= StatusCodes.Status500InternalServerError) LogUnserved(ex, context.Request.Method, context.GetEndpoint()?.DisplayName); // not in the response
            await Problems.Of(status, ex.Code, ex.Message).ExecuteAsync(context);
        }
        catch (BadHttpRequestException ex)
        {
            await Problems.Of(ex.StatusCode, "ESB-API-REQUEST", ex.Message).ExecuteAsync(context);
        }
        catch (OperationCanceledException) when (context.RequestAborted.IsCancellationRequested)
        {
            context.Abort(); // the client has disconnected
        }
        catch (Exception ex) when (!context.Response.HasStarted)
        {
            LogFailed(ex, context.Request.Method, context.GetEndpoint()?.DisplayName);
            await Problems.Of(StatusCodes.Status500InternalServerError, "ESB-API-INTERNAL", "The request failed; the log of the host says why.").ExecuteAsync(context);
        }
    }

    public static Task ProtectAsync(HttpContext context, RequestDelegate next)
    {
        var headers = context.Response.Headers;
        headers.CacheControl = "no-store";
        headers.XContentTypeOptions = "nosniff";
        headers.ContentSecurityPolicy = "default-src 'none'; frame-ancestors 'none'";
        return next(context);
    }

    /// <summary>Denies access by default: a route is open only if marked so, and below <c>/api</c> a client without a key cannot learn
    /// which routes exist.</summary>
    public Task RequireKeyAsync(HttpContext context, RequestDelegate next)
    {
        var endpoint = context.GetEndpoint();
        var isClosed = endpoint is null ? context.Request.Path.StartsWithSegments("/api") : endpoint.Metadata.GetMetadata<OpenRoute>() is null;
        if (!isClosed || key.Matches(Presented(context.Request))) return next(context);

        context.Response.Headers.WWWAuthenticate = "Bearer";
        return Problems.Of(StatusCodes.Status401Unauthorized, "ESB-API-KEY", "Expected the management key, as 'Authorization: Bearer KEY' or 'X-Esb-Key: KEY'.").ExecuteAsync(context);
    }

    private static string? Presented(HttpRequest request)
    {
        const string scheme = "Bearer ";
        string? authorization = request.Headers.Authorization;
        return authorization?.StartsWith(scheme, StringComparison.OrdinalIgnoreCase) == true
            ? authorization[scheme.Length..].Trim()
            : request.Headers[KeyHeader];
    }

    private static IResult DescribeStatus(int status) => status switch
    {
        StatusCodes.Status404NotFound => Problems.Of(status, "ESB-API-NOTFOUND", "There is no such route."),
        StatusCodes.Status405MethodNotAllowed => Problems.Of(status, "ESB-API-METHOD", "The route does not take this method."),
        _ => Problems.Of(status, "ESB-API-REQUEST", "The request cannot be answered."),
    };

    [LoggerMessage(EventId = 5102, Level = LogLevel.Warning, Message = "{Method} {Route} cannot be served")]
    private partial void LogUnserved(Exception exception, string method, string? route);

    [LoggerMessage(EventId = 5101, Level = LogLevel.Error, Message = "{Method} {Route} failed")]
    private partial void LogFailed(Exception exception, string method, string? route);
}

/// <summary>Marks a route that needs no key.</summary>
internal sealed class OpenRoute;
