using System.Collections.Concurrent;
using System.Diagnostics;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.Tests;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.Extensions.Logging;

namespace Esb.IntegrationTests.EndToEnd.Failing;

/// <summary>Two hosts that deliver in order: one is frozen, the other takes over, and the first comes back.</summary>
[Category("Faults")]
public sealed class FrozenHostTests
{
    private const int Messages = 60;

    private readonly ConcurrentQueue<(int Number, string Host)> _arrived = new();
    private DirectoryInfo _folder = null!;
    private WebApplication _backend = null!;
    private string _url = null!;

    [SetUp]
    public async Task StartBackend()
    {
        _folder = Directory.CreateTempSubdirectory("esb-frozen-");
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        _url = $"http://127.0.0.1:{FreePorts.Next()}";
        builder.WebHost.UseUrls(_url);
        _backend = builder.Build();
        _backend.Run(async context =>
        {
            using var reader = new StreamReader(context.Request.Body);
            _arrived.Enqueue((int.Parse(await reader.ReadToEndAsync(context.RequestAborted)), context.Request.Path.Value!));
            await Task.Delay(150, context.RequestAborted);
        });
        await _backend.StartAsync();
    }

    [TearDown]
    public async Task StopBackend()
    {
        await _backend.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test, CancelAfter(180_000)]
    [Property("Case", "T-ORD-3")]
    public async Task Host_that_was_frozen_begins_no_delivery_that_another_host_has_taken_over(CancellationToken cancellationToken)
    {
        var prefix = $"esb-test-{Guid.NewGuid():N}"[..17];
        await using var frozen = await StartHostAsync("a", prefix, cancellationToken);
        for (var i = 0; i < Messages; i++)
            (await frozen.PostAsync("/in", $"{i}", "text/plain", cancellationToken)).EnsureSuccessStatusCode();
        await frozen.WaitAsync(_ => Task.FromResult(_arrived.Count > 3), TimeSpan.FromSeconds(20), "to deliver", cancellationToken);
        await using var other = await StartHostAsync("b", prefix, cancellationToken);

        await SignalAsync("STOP", frozen);
        var stopped = Stopwatch.GetTimestamp();
        await other.WaitAsync(
            _ => Task.FromResult(_arrived.Any(one => one.Host == "/b")),
            TimeSpan.FromSeconds(60),
            "to take over",
            cancellationToken
        );
        TestContext.Out.WriteLine($"taken over {Stopwatch.GetElapsedTime(stopped).TotalSeconds:0.0} s after the freeze");
        await SignalAsync("CONT", frozen);
        await other.WaitAsync(
            _ => Task.FromResult(_arrived.Select(one => one.Number).Distinct().Count() == Messages),
            TimeSpan.FromSeconds(60),
            "to deliver the rest",
            cancellationToken
        );

        var numbers = _arrived.Select(one => one.Number).ToList();
        Assert.That(numbers.Distinct(), Is.Ordered);
        Assert.That(numbers, Has.Count.LessThanOrEqualTo(Messages + 1), "at most the one that was under way came twice");
        Assert.That(Stopwatch.GetElapsedTime(stopped), Is.LessThan(TimeSpan.FromSeconds(60)));
    }

    private Task<HostProcess> StartHostAsync(string name, string prefix, CancellationToken cancellationToken)
    {
        var folder = _folder.CreateSubdirectory(name).FullName;
        var file = Path.Combine(folder, "esb.json");
        File.WriteAllText(
            file,
            $$"""
            {
              "name": "frozen",
              "transport": { "type": "rabbitmq", "url": "${env:ESB_TEST_RABBITMQ}", "prefix": "{{prefix}}" },
              "topics": { "numbers": {} },
              "endpoints": {
                "in": { "type": "http-inbound", "path": "/in", "publish": "numbers.new" },
                "out": { "type": "http-outbound", "subscribe": ["numbers.#"], "delivery": "ordered", "url": "{{_url}}/{{name}}" }
              }
            }
            """
        );
        return HostProcess.StartAsync(file, folder, cancellationToken);
    }

    private static async Task SignalAsync(string signal, HostProcess host)
    {
        using var kill = Process.Start("kill", [$"-{signal}", $"{host.Id}"]);
        await kill.WaitForExitAsync();
    }
}
