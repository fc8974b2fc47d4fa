using System.Diagnostics;
using System.Net.Http.Headers;
using Esb.Endpoints.Http.Access;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Endpoints.Http.Access;

/// <summary>The checks of credentials without a web server around them.</summary>
internal static class Checks
{
    private const int Calls = 200;

    public static ICredentialCheck Of(HttpBus bus, CredentialKind kind) =>
        bus.Services.GetRequiredService<PartyCredentials>().CheckOf(kind, "X-Api-Key");

    public static DefaultHttpContext Request(AuthenticationHeaderValue authorization)
    {
        var context = new DefaultHttpContext();
        context.Request.Headers.Authorization = authorization.ToString();
        return context;
    }

    /// <summary>What so many calls take, in milliseconds.</summary>
    public static async Task<double> TimeAsync(ICredentialCheck check, HttpContext context)
    {
        var started = Stopwatch.GetTimestamp();
        for (var call = 0; call < Calls; call++)
            await check.IdentifyAsync(context);
        return Stopwatch.GetElapsedTime(started).TotalMilliseconds;
    }
}
