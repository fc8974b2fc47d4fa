using System.Collections.Concurrent;
using System.Text;
using Esb.Tests;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;

namespace Esb.IntegrationTests.EndToEnd.Hosts;

/// <summary>Takes OTLP over HTTP, and keeps it as it came: in protobuf every text stands as its UTF-8.</summary>
internal sealed class SpanReceiver : IAsyncDisposable
{
    private readonly WebApplication _application;
    private readonly ConcurrentQueue<byte[]> _received = new();

    private SpanReceiver(WebApplication application, string url)
    {
        _application = application;
        Url = $"{url}/v1";
    }

    /// <summary>What <c>telemetry.otlp</c> has to say.</summary>
    public string Url { get; }

    /// <summary>All that came, bytes as characters.</summary>
    public string Text => string.Concat(_received.Select(Encoding.Latin1.GetString));

    public static async Task<SpanReceiver> StartAsync()
    {
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        var url = $"http://127.0.0.1:{FreePorts.Next()}";
        builder.WebHost.UseUrls(url);
        var receiver = new SpanReceiver(builder.Build(), url);
        receiver._application.Run(receiver.TakeAsync);
        await receiver._application.StartAsync();
        return receiver;
    }

    public ValueTask DisposeAsync() => _application.DisposeAsync();

    private async Task TakeAsync(HttpContext context)
    {
        using var body = new MemoryStream();
        await context.Request.Body.CopyToAsync(body, context.RequestAborted);
        _received.Enqueue(body.ToArray());
        context.Response.ContentType = "application/x-protobuf"; // an empty message: all was taken
    }
}
