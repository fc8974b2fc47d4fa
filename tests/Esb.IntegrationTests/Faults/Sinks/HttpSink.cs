using System.Collections.Concurrent;
using System.Security.Cryptography;
using System.Text.Json;
using System.Text.Json.Nodes;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Farm;
using Esb.IntegrationTests.Faults.Ledgers;
using Esb.Tests;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;

namespace Esb.IntegrationTests.Faults.Sinks;

/// <summary>An HTTP server that an http-outbound endpoint sends to; it answers only once an arrival is in its ledger, on the
/// disk.</summary>
internal sealed class HttpSink : ISink
{
    private readonly WebApplication _application;
    private readonly AppendOnlyFile _file;
    private readonly ConcurrentQueue<SinkEntry> _entries = new();

    private HttpSink(string endpoint, string folder, SinkPromises promises, JsonObject settings)
    {
        (Endpoint, Promises, Configuration) = (endpoint, promises, settings);
        _file = new AppendOnlyFile(Path.Combine(folder, $"{endpoint}.ledger"));
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        var url = $"http://127.0.0.1:{FreePorts.Next()}";
        builder.WebHost.UseUrls(url);
        _application = builder.Build();
        _application.Run(TakeAsync);
        settings["type"] = "http-outbound";
        settings["subscribe"] ??= new JsonArray("work.#");
        settings["url"] = $"{url}/{endpoint}";
    }

    public string Endpoint { get; }

    public SinkPromises Promises { get; }

    public JsonObject Configuration { get; }

    /// <summary>What is answered to a message, in place of 200; it then is not written down.</summary>
    public Func<string, CancellationToken, ValueTask<IResult?>> Refusal { get; set; } = (_, _) => ValueTask.FromResult<IResult?>(null);

    /// <summary>How long the answer takes after the effect: whoever dies meanwhile does not know of it.</summary>
    public Func<TimeSpan> LatencyOf { get; set; } = () => TimeSpan.Zero;

    /// <summary>Every request, with those that were refused: how often the endpoint tried each message, when, and at which path.</summary>
    public ConcurrentQueue<(string Id, DateTimeOffset At, string Path)> Attempts { get; } = new();

    /// <summary>Where it listens; whatever the path.</summary>
    public Uri Url => new((string)Configuration["url"]!);

    public static async Task<HttpSink> StartAsync(string endpoint, string folder, SinkPromises promises, JsonObject settings)
    {
        var sink = new HttpSink(endpoint, folder, promises, settings);
        await sink._application.StartAsync();
        return sink;
    }

    public Task<IReadOnlyList<SinkEntry>> ReadAsync(CancellationToken cancellationToken) =>
        Task.FromResult<IReadOnlyList<SinkEntry>>([.. _entries]);

    public async ValueTask DisposeAsync()
    {
        await _application.DisposeAsync();
        await _file.DisposeAsync();
    }

    private async Task TakeAsync(HttpContext context)
    {
        var id = context.Request.Headers[FaultHeaders.Id].ToString();
        Attempts.Enqueue((id, TimeProvider.System.GetUtcNow(), context.Request.Path));
        var hash = Convert.ToHexStringLower(await SHA256.HashDataAsync(context.Request.Body, context.RequestAborted));
        if (await Refusal(id, context.RequestAborted) is { } refusal)
        {
            await refusal.ExecuteAsync(context);
            return;
        }

        var entry = new SinkEntry(id, hash, TimeProvider.System.GetUtcNow());
        await _file.AppendAsync(JsonSerializer.Serialize(entry));
        _entries.Enqueue(entry);
        if (LatencyOf() is { Ticks: > 0 } latency)
            await Task.Delay(latency);
        context.Response.StatusCode = StatusCodes.Status200OK;
    }
}
