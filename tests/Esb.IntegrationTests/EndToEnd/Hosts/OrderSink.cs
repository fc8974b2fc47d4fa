using System.Collections.Concurrent;
using Esb.Tests;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;

namespace Esb.IntegrationTests.EndToEnd.Hosts;

/// <summary>A shop of the outside that takes orders, or refuses them for good; it writes down which messages it took.</summary>
internal sealed class OrderSink : IAsyncDisposable
{
    private readonly WebApplication _application;
    private readonly ConcurrentQueue<(Guid Message, string Body, string Path)> _taken = new();

    private OrderSink(WebApplication application, Uri url)
    {
        _application = application;
        Url = url;
    }

    public Uri Url { get; }

    /// <summary>What it refuses, by the body.</summary>
    public Func<string, bool> Refuses { get; set; } = _ => false;

    /// <summary>How it refuses: by default so that no attempt can help.</summary>
    public int Refusal { get; set; } = StatusCodes.Status422UnprocessableEntity;

    public IReadOnlyList<(Guid Message, string Body, string Path)> Taken => [.. _taken];

    /// <summary>The bodies that it took at a path, in their order.</summary>
    public IReadOnlyList<string> At(string path) => [.. _taken.Where(taken => taken.Path == path).Select(taken => taken.Body)];

    public static async Task<OrderSink> StartAsync()
    {
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        var url = new Uri($"http://127.0.0.1:{FreePorts.Next()}");
        builder.WebHost.UseUrls(url.OriginalString);
        var sink = new OrderSink(builder.Build(), new Uri(url, "/orders"));
        sink._application.Run(sink.TakeAsync);
        await sink._application.StartAsync();
        return sink;
    }

    public ValueTask DisposeAsync() => _application.DisposeAsync();

    private async Task TakeAsync(HttpContext context)
    {
        using var reader = new StreamReader(context.Request.Body);
        var body = await reader.ReadToEndAsync(context.RequestAborted);
        if (Refuses(body))
        {
            context.Response.StatusCode = Refusal;
            return;
        }

        _taken.Enqueue((Guid.Parse(context.Request.Headers["Idempotency-Key"].ToString()), body, context.Request.Path));
    }
}
