using System.Collections.Concurrent;
using Esb.Tests;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;

namespace Esb.IntegrationTests.EndToEnd.Hosts;

/// <summary>A back end of the outside that answers with what it gets.</summary>
internal sealed class EchoBackend : IAsyncDisposable
{
    private readonly WebApplication _application;
    private readonly Lock _lock = new();
    private int _now;
    private int _most;

    private EchoBackend(WebApplication application, Uri url)
    {
        _application = application;
        Url = url;
    }

    public Uri Url { get; }

    public string? LastBody { get; private set; }

    /// <summary>What it waits for before it answers.</summary>
    public Task Hold { get; set; } = Task.CompletedTask;

    /// <summary>How long each answer takes.</summary>
    public TimeSpan Delay { get; set; }

    /// <summary>The most requests that it has had at once.</summary>
    public int MostAtOnce => _most;

    /// <summary>The header Idempotency-Key of each request.</summary>
    public ConcurrentQueue<string> Keys { get; } = new();

    public static async Task<EchoBackend> StartAsync()
    {
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        var url = new Uri($"http://127.0.0.1:{FreePorts.Next()}");
        builder.WebHost.UseUrls(url.OriginalString);
        var backend = new EchoBackend(builder.Build(), new Uri(url, "/echo"));
        backend._application.Run(backend.AnswerAsync);
        await backend._application.StartAsync();
        return backend;
    }

    public ValueTask DisposeAsync() => _application.DisposeAsync();

    private async Task AnswerAsync(HttpContext context)
    {
        lock (_lock)
            _most = Math.Max(_most, ++_now);
        try
        {
            await EchoAsync(context);
        }
        finally
        {
            lock (_lock)
                _now--;
        }
    }

    private async Task EchoAsync(HttpContext context)
    {
        using var reader = new StreamReader(context.Request.Body);
        var body = LastBody = await reader.ReadToEndAsync(context.RequestAborted);
        Keys.Enqueue(context.Request.Headers["Idempotency-Key"].ToString());
        await Hold.WaitAsync(context.RequestAborted);
        await Task.Delay(Delay, context.RequestAborted);
        context.Response.ContentType = context.Request.ContentType;
        await context.Response.WriteAsync(body, context.RequestAborted);
    }
}
