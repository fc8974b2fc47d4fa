using System.Globalization;
using Esb.Configuration;
using Esb.Core.Diagnostics;
using Esb.Core.Errors;
using Esb.Core.Parties;
using Esb.Host.Management.Sessions;
using Microsoft.AspNetCore.Http.Features;

namespace Esb.Host.Management;

/// <summary>The pipeline of every management API request: protective response headers, the key check, and one error format.</summary>
internal sealed partial class ManagementPipeline(
    ManagementKeys keys,
    ManagementSessions sessions,
    GuessBrake brake,
    TimeProvider time,
    ILogger logger
)
{
    private readonly LogPace _refusals = new(time);

    public const string KeyHeader = "X-Esb-Key";

    public async Task AnswerProblemsAsync(HttpContext context, RequestDelegate next)
    {
        try
        {
            await next(context);
            if (context.Response is { HasStarted: false, StatusCode: >= 400, ContentType: null })
                await DescribeStatus(context.Response.StatusCode).ExecuteAsync(context);
        }
        catch (EsbException ex)
        {
            var status = ex.Status ?? Faults.StatusOf(ex.Kind);
            if (status >= StatusCodes.Status500InternalServerError)
                LogUnserved(ex, context.Request.Method, context.GetEndpoint()?.DisplayName); // not in the response
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
            await Problems
                .Of(StatusCodes.Status500InternalServerError, "ESB-API-INTERNAL", "The request failed; the log of the host says why.")
                .ExecuteAsync(context);
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

    /// <summary>Refuses names that are not those of this host, except with a key in a header, which a page of another site cannot
    /// know, and for health probes.</summary>
    public Task RequireHostAsync(HttpContext context, ManagementConfig management, RequestDelegate next)
    {
        var request = context.Request;
        if (HostNames.IsOurs(request.Host.Host, management) || Presented(request) is not null || request.Path.StartsWithSegments("/health"))
            return next(context);
        Count(context, "ESB-API-HOST", "a foreign name of the host");
        return Problems
            .Of(StatusCodes.Status421MisdirectedRequest, "ESB-API-HOST", "This name is not one of this host; add it to management.hosts.")
            .ExecuteAsync(context);
    }

    public static Task LimitBodyAsync(HttpContext context, LimitsConfig limits, RequestDelegate next)
    {
        if (context.Features.Get<IHttpMaxRequestBodySizeFeature>() is { IsReadOnly: false } limit)
            limit.MaxRequestBodySize = limits.MaxBodySize.Bytes;
        return next(context);
    }

    /// <summary>Denies access by default: a route is open only if marked so, and below <c>/api</c> a client without a key cannot learn
    /// which routes exist.</summary>
    public Task RequireKeyAsync(HttpContext context, RequestDelegate next)
    {
        var endpoint = context.GetEndpoint();
        var presented = Presented(context.Request);
        var isClosed = endpoint is null
            ? context.Request.Path.StartsWithSegments("/api")
            : endpoint.Metadata.GetMetadata<OpenRoute>() is null;
        if (presented is not null && brake.WaitOf(context.Connection.RemoteIpAddress) is { } wait)
            return isClosed ? DelayAsync(context, wait) : next(context);
        if (presented is null && sessions.Find(context.Request.Cookies[ManagementSessions.Cookie]) is var (session, owner))
            return AdmitSessionAsync(context, session, owner, isClosed, next);
        if (keys.Find(presented) is not { } user)
        {
            if (presented is not null)
                brake.CountWrong(context.Connection.RemoteIpAddress);
            return isClosed ? RefuseAsync(context, presented is null ? "no key" : "a wrong key") : next(context);
        }

        return AdmitAsync(context, user, isClosed, new ManagementAccess(() => keys.Find(presented) is not null), next);
    }

    // A cookie is sent by the browser whichever page asks: what changes something must also know the text that only our pages can read.
    private Task AdmitSessionAsync(HttpContext context, ManagementSession session, ManagementUser user, bool isClosed, RequestDelegate next)
    {
        var request = context.Request;
        if (
            isClosed
            && !IsSafe(request.Method)
            && !(IsSameOrigin(request) && ManagementSessions.IsCsrf(session, request.Headers[ManagementSessions.CsrfHeader]))
        )
        {
            Count(context, "ESB-API-CSRF", $"no {ManagementSessions.CsrfHeader} of the session");
            return Problems
                .Of(
                    StatusCodes.Status403Forbidden,
                    "ESB-API-CSRF",
                    $"Expected the {ManagementSessions.CsrfHeader} of the session, from a page of this host."
                )
                .ExecuteAsync(context);
        }

        if (!request.Headers.ContainsKey(ManagementSessions.BackgroundHeader))
            sessions.Use(session);
        context.Features.Set(session);
        var token = request.Cookies[ManagementSessions.Cookie];
        return AdmitAsync(context, user, isClosed, new ManagementAccess(() => sessions.Find(token) is not null), next);
    }

    private Task AdmitAsync(HttpContext context, ManagementUser user, bool isClosed, ManagementAccess access, RequestDelegate next)
    {
        if (isClosed && context.GetEndpoint() is RouteEndpoint route && RouteRoles.Of(route) is var role && user.Role < role)
            return ForbidAsync(context, user, role);
        context.Features.Set(user);
        context.Features.Set(access);
        return next(context);
    }

    private static bool IsSafe(string method) => HttpMethods.IsGet(method) || HttpMethods.IsHead(method) || HttpMethods.IsOptions(method);

    private static bool IsSameOrigin(HttpRequest request) =>
        request.Headers.Origin is not [{ } origin]
        || (
            Uri.TryCreate(origin, UriKind.Absolute, out var from)
            && from.Authority.Equals(request.Host.Value, StringComparison.OrdinalIgnoreCase)
        );

    private Task RefuseAsync(HttpContext context, string cause)
    {
        Count(context, "ESB-API-KEY", cause);
        context.Response.Headers.WWWAuthenticate = "Bearer";
        return Problems
            .Of(
                StatusCodes.Status401Unauthorized,
                "ESB-API-KEY",
                "Expected a management key, as 'Authorization: Bearer KEY' or 'X-Esb-Key: KEY'."
            )
            .ExecuteAsync(context);
    }

    private Task DelayAsync(HttpContext context, TimeSpan wait)
    {
        Count(context, "ESB-API-KEYRATE", "too many wrong keys");
        context.Response.Headers.RetryAfter = ((int)Math.Ceiling(wait.TotalSeconds)).ToString(CultureInfo.InvariantCulture);
        return Problems
            .Of(StatusCodes.Status429TooManyRequests, "ESB-API-KEYRATE", "Too many wrong keys from this address; try again later.")
            .ExecuteAsync(context);
    }

    private Task ForbidAsync(HttpContext context, ManagementUser user, ManagementRole role)
    {
        Count(context, "ESB-API-ROLE", $"the key {user.Name}, of a {user.Role}");
        return Problems
            .Of(
                StatusCodes.Status403Forbidden,
                "ESB-API-ROLE",
                $"This takes the role {Name(role)}; the key {user.Name} has the role {Name(user.Role)}."
            )
            .ExecuteAsync(context);
    }

    private void Count(HttpContext context, string code, string cause)
    {
        ManagementTelemetry.CountRefused(code);
        if (_refusals.Next() is { } silent)
            LogRefused(context.Request.Method, cause, context.Connection.RemoteIpAddress, silent);
    }

    private static string Name(ManagementRole role) => role.ToString().ToLowerInvariant();

    private static string? Presented(HttpRequest request)
    {
        const string scheme = "Bearer ";
        string? authorization = request.Headers.Authorization;
        if (authorization?.StartsWith(scheme, StringComparison.OrdinalIgnoreCase) == true)
            return authorization[scheme.Length..].Trim();
        return request.Headers[KeyHeader] is [{ } key] ? key : null;
    }

    private static IResult DescribeStatus(int status) =>
        status switch
        {
            StatusCodes.Status404NotFound => Problems.Of(status, "ESB-API-NOTFOUND", "There is no such route."),
            StatusCodes.Status405MethodNotAllowed => Problems.Of(status, "ESB-API-METHOD", "The route does not take this method."),
            _ => Problems.Of(status, "ESB-API-REQUEST", "The request cannot be answered."),
        };

    [LoggerMessage(EventId = 5102, Level = LogLevel.Warning, Message = "{Method} {Route} cannot be served")]
    private partial void LogUnserved(Exception exception, string method, string? route);

    [LoggerMessage(
        EventId = 5103,
        Level = LogLevel.Warning,
        Message = "The management API refused a {Method} with {Cause}, from {Address}; {Silent} more since the last warning"
    )]
    private partial void LogRefused(string method, string cause, System.Net.IPAddress? address, long silent);

    [LoggerMessage(EventId = 5101, Level = LogLevel.Error, Message = "{Method} {Route} failed")]
    private partial void LogFailed(Exception exception, string method, string? route);
}

/// <summary>The access of a request that lasts, such as an event stream.</summary>
/// <param name="Holds">False once the session or the key has ended.</param>
internal sealed record ManagementAccess(Func<bool> Holds);

/// <summary>Marks a route that needs no key.</summary>
internal sealed class OpenRoute;
