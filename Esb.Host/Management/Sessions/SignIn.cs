using System.Globalization;
using Esb.Core.Errors;
using Esb.Core.Parties;
using Microsoft.AspNetCore.Http.Features;

namespace Esb.Host.Management.Sessions;

/// <summary>Checks the key of a browser and begins its session. Guessing is slowed as for keys in headers.</summary>
internal sealed class SignIn(ManagementKeys keys, ManagementSessions sessions, GuessBrake brake)
{
    private const int MaxBodyBytes = 4_096;

    public async Task<IResult> RunAsync(HttpRequest request, CancellationToken cancellationToken)
    {
        var context = request.HttpContext;
        var address = context.Connection.RemoteIpAddress;
        if (context.Features.Get<IHttpMaxRequestBodySizeFeature>() is { IsReadOnly: false } limit)
            limit.MaxRequestBodySize = MaxBodyBytes;
        if (brake.WaitOf(address) is { } wait)
        {
            ManagementTelemetry.CountRefused("ESB-API-KEYRATE");
            context.Response.Headers.RetryAfter = ((int)Math.Ceiling(wait.TotalSeconds)).ToString(CultureInfo.InvariantCulture);
            return Problems.Of(
                StatusCodes.Status429TooManyRequests,
                "ESB-API-KEYRATE",
                "Too many wrong keys from this address; try again later."
            );
        }

        var key = (await JsonBody.ReadAsync<SessionBody>(request, cancellationToken)).Key;
        if (string.IsNullOrEmpty(key))
            throw Problems.Parameter("key", "expected a management key");
        if (keys.Find(key) is not { } user)
        {
            brake.CountWrong(address);
            ManagementTelemetry.CountRefused("ESB-API-KEY");
            throw new EsbException("ESB-API-KEY", "The key opens nothing: it is wrong, or has expired.", FaultKind.Malformed)
            {
                Status = StatusCodes.Status401Unauthorized,
            };
        }

        var (token, session) = sessions.Begin(key);
        context.Response.Cookies.Append(ManagementSessions.Cookie, token, CookieOf(request));
        return TypedResults.Json(SessionView.Of(user, session), statusCode: StatusCodes.Status201Created);
    }

    /// <summary>The attributes of the cookie: for this address alone, unreadable for scripts, never sent along by other sites.</summary>
    public static CookieOptions CookieOf(HttpRequest request) =>
        new()
        {
            HttpOnly = true,
            SameSite = SameSiteMode.Strict,
            Secure = request.IsHttps,
            Path = "/",
        };
}

/// <summary>The request body of a sign-in.</summary>
internal sealed record SessionBody
{
    public string? Key { get; init; }
}
