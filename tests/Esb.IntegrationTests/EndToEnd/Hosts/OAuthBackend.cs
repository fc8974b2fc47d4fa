using System.Collections.Concurrent;
using System.Text;
using Esb.Tests;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;

namespace Esb.IntegrationTests.EndToEnd.Hosts;

/// <summary>An authorization server that gives tokens at <c>/token</c>, and a service that answers whoever shows one that is valid.
/// Thread-safe.</summary>
internal sealed class OAuthBackend : IAsyncDisposable
{
    public const string Secret = "s/cret";

    private readonly WebApplication _application;
    private readonly ConcurrentDictionary<string, DateTimeOffset> _valid = new();
    private int _given;
    private int _refused;

    private OAuthBackend(WebApplication application, Uri url) => (_application, Url) = (application, url);

    public Uri Url { get; }

    /// <summary>The life of the tokens that it gives from now on.</summary>
    public TimeSpan Life { get; set; } = TimeSpan.FromHours(1);

    /// <summary>Tokens that it has given.</summary>
    public int Given => _given;

    /// <summary>Requests that it has refused with 401.</summary>
    public int Refused => _refused;

    public static async Task<OAuthBackend> StartAsync()
    {
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        var url = new Uri($"http://127.0.0.1:{FreePorts.Next()}");
        builder.WebHost.UseUrls(url.OriginalString);
        var backend = new OAuthBackend(builder.Build(), url);
        backend._application.Run(backend.AnswerAsync);
        await backend._application.StartAsync();
        return backend;
    }

    /// <summary>Makes every token invalid.</summary>
    public void Revoke() => _valid.Clear();

    public ValueTask DisposeAsync() => _application.DisposeAsync();

    private Task AnswerAsync(HttpContext context) => context.Request.Path == "/token" ? GiveAsync(context) : ServeAsync(context);

    private async Task GiveAsync(HttpContext context)
    {
        var client = Convert.ToBase64String(Encoding.ASCII.GetBytes($"bus:{Uri.EscapeDataString(Secret)}"));
        var form = await context.Request.ReadFormAsync(context.RequestAborted);
        if (context.Request.Headers.Authorization != $"Basic {client}" || form["grant_type"] != "client_credentials")
        {
            context.Response.StatusCode = StatusCodes.Status401Unauthorized;
            await context.Response.WriteAsJsonAsync(new { error = "invalid_client" }, context.RequestAborted);
            return;
        }

        var token = $"{form["scope"]}-{Interlocked.Increment(ref _given)}";
        _valid[$"Bearer {token}"] = TimeProvider.System.GetUtcNow() + Life;
        var answer = new
        {
            access_token = token,
            token_type = "Bearer",
            expires_in = (int)Life.TotalSeconds,
        };
        await context.Response.WriteAsJsonAsync(answer, context.RequestAborted);
    }

    private async Task ServeAsync(HttpContext context)
    {
        if (!_valid.TryGetValue($"{context.Request.Headers.Authorization}", out var end) || end < TimeProvider.System.GetUtcNow())
        {
            Interlocked.Increment(ref _refused);
            context.Response.StatusCode = StatusCodes.Status401Unauthorized;
            return;
        }

        await context.Response.WriteAsync("in stock", context.RequestAborted);
    }
}
