using System.Collections.Concurrent;
using Esb.Tests;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;

namespace Esb.IntegrationTests.EndToEnd.Hosts;

/// <summary>An external system over HTTP whose answers the test decides on, by the path. It keeps the paths and times of its
/// requests.</summary>
internal sealed class ScriptedBackend : IAsyncDisposable
{
    private readonly WebApplication _application;
    private readonly Func<string, CancellationToken, Task<(int Status, string Body)>> _answer;

    private ScriptedBackend(WebApplication application, Uri url, Func<string, CancellationToken, Task<(int Status, string Body)>> answer) =>
        (_application, Url, _answer) = (application, url, answer);

    public Uri Url { get; }

    public ConcurrentQueue<(string Path, long At)> Requests { get; } = new();

    /// <param name="answer">Answers a path.</param>
    /// <param name="url">Where it listens; null for a free port.</param>
    public static async Task<ScriptedBackend> StartAsync(
        Func<string, CancellationToken, Task<(int Status, string Body)>> answer,
        Uri? url = null
    )
    {
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        url ??= new Uri($"http://127.0.0.1:{FreePorts.Next()}");
        builder.WebHost.UseUrls(url.OriginalString);
        var backend = new ScriptedBackend(builder.Build(), url, answer);
        backend._application.Run(backend.AnswerAsync);
        await backend._application.StartAsync();
        return backend;
    }

    /// <summary>How often a path was asked for.</summary>
    public int CountOf(string path) => Requests.Count(request => request.Path == path);

    public ValueTask DisposeAsync() => _application.DisposeAsync();

    private async Task AnswerAsync(HttpContext context)
    {
        Requests.Enqueue((context.Request.Path.Value!, TimeProvider.System.GetTimestamp()));
        var (status, body) = await _answer(context.Request.Path.Value!, context.RequestAborted);
        context.Response.StatusCode = status;
        context.Response.ContentType = "application/json";
        await context.Response.WriteAsync(body, context.RequestAborted);
    }
}
