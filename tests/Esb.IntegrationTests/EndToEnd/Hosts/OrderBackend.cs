using System.Collections.Concurrent;
using Esb.Tests;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;

namespace Esb.IntegrationTests.EndToEnd.Hosts;

/// <summary>A back end of the outside that keeps what it applied, in order, and answers with the status that the test decides on.</summary>
internal sealed class OrderBackend : IAsyncDisposable
{
    private readonly WebApplication _application;
    private readonly Func<string, int, Task<int>> _decide;

    private OrderBackend(WebApplication application, Uri url, Func<string, int, Task<int>> decide) =>
        (_application, Url, _decide) = (application, url, decide);

    public Uri Url { get; }

    /// <summary>What was applied: key and number.</summary>
    public ConcurrentQueue<(string Key, int Number)> Applied { get; } = new();

    /// <param name="decide">The status for a key and a number; what is below 300 counts as applied.</param>
    public static async Task<OrderBackend> StartAsync(Func<string, int, Task<int>> decide)
    {
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        var url = new Uri($"http://127.0.0.1:{FreePorts.Next()}");
        builder.WebHost.UseUrls(url.OriginalString);
        var backend = new OrderBackend(builder.Build(), url, decide);
        backend._application.Run(backend.AnswerAsync);
        await backend._application.StartAsync();
        return backend;
    }

    public IReadOnlyList<int> NumbersOf(string key) => [.. Applied.Where(applied => applied.Key == key).Select(applied => applied.Number)];

    public ValueTask DisposeAsync() => _application.DisposeAsync();

    private async Task AnswerAsync(HttpContext context)
    {
        using var reader = new StreamReader(context.Request.Body);
        var number = int.Parse(await reader.ReadToEndAsync(context.RequestAborted), System.Globalization.CultureInfo.InvariantCulture);
        var key = context.Request.Headers["x-key"].ToString();
        var status = await _decide(key, number);
        if (status < 300)
            Applied.Enqueue((key, number));
        context.Response.StatusCode = status;
    }
}
