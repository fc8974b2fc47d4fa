using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text.Json;
using Esb.Configuration;
using Esb.Core.Audit;
using Esb.Core.Messages;
using Esb.Core.Topics;
using Esb.Host;
using Esb.Host.Composition;
using Esb.Host.Lifecycle;
using Esb.Workflows.Workflows.Engine;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;

namespace Esb.Benchmarks;

/// <summary>What the engine of workflows does alone: instances from their start to their end, each durable in PostgreSQL, without a broker
/// and without an audit. Prints one line: name, rate, unit. <c>dotnet run -- engine-rate CONNECTION [SECONDS [WORKFLOW]]</c></summary>
internal static class EngineRate
{
    /// <summary>An instance with one checkpoint, its end.</summary>
    public const string Short = "short";

    /// <summary>An instance that calls five endpoints which answer at once, with a checkpoint behind each, and its end.</summary>
    public const string FiveSteps = "five-steps";

    private const int AtOnce = 256;

    private static readonly TimeSpan WarmUp = TimeSpan.FromSeconds(10);

    public static async Task RunAsync(string connection, double seconds, string workflow)
    {
        var folder = Directory.CreateTempSubdirectory("esb-engine-");
        try
        {
            await File.WriteAllTextAsync(Path.Combine(folder.FullName, "esb.json"), Configuration(connection));
            var services = new ServiceCollection()
                .AddEsb()
                .AddEndpointType<GreetingType, GreetingConfig>("greeting", "Greets.")
                .Replace(ServiceDescriptor.Singleton<IAuditTrail, NoAudit>());
            await using var bus = BusServices.Build(folder.FullName, new Dictionary<string, string>(), services);
            var lifecycle = bus.GetRequiredService<BusLifecycle>();
            await lifecycle.StartAsync(CancellationToken.None);
            var engine = bus.GetRequiredService<WorkflowEngine>();
            await RateAsync(engine, workflow, WarmUp);
            var rate = await RateAsync(engine, workflow, TimeSpan.FromSeconds(seconds));
            await lifecycle.StopAsync(CancellationToken.None);
            Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{workflow}\t{rate:0}\tinstances"));
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    // Each caller starts its next instance once its last one has ended.
    private static async Task<double> RateAsync(WorkflowEngine engine, string workflow, TimeSpan duration)
    {
        var began = Stopwatch.GetTimestamp();
        var callers = Enumerable.Range(0, AtOnce).Select(_ => Task.Run(() => StartUntilAsync(engine, workflow, began, duration)));
        var counts = await Task.WhenAll(callers);
        return counts.Sum() / Stopwatch.GetElapsedTime(began).TotalSeconds;
    }

    private static async Task<long> StartUntilAsync(WorkflowEngine engine, string workflow, long began, TimeSpan duration)
    {
        var count = 0L;
        for (; Stopwatch.GetElapsedTime(began) < duration; count++)
        {
            var message = EsbMessage.Create(MessageBody.FromText($$"""{"order":"{{Guid.NewGuid():N}}"}"""), TimeProvider.System) with
            {
                Subject = "orders.accepted",
                ContentType = "application/json",
            };
            if (
                await engine.ReceiveAsync(workflow, new TopicDelivery(message, default, Reply: null), CancellationToken.None)
                != Settlement.Done
            )
                throw new InvalidOperationException("An instance did not run to its end.");
        }

        return count;
    }

    private static string Configuration(string connection) =>
        $$"""
            {
              "name": "engine",
              "management": { "url": "http://127.0.0.1:{{FreePort()}}" },
              "store": { "type": "postgres", "connection": {{JsonSerializer.Serialize(connection)}}, "schema": "engine" },
              "topics": { "orders": {} },
              "endpoints": { "hello": { "type": "greeting", "poolSize": 32 } },
              "workflows": {
                "{{Short}}": {
                  "start": "orders.accepted",
                  "correlate": { "order": { "jsonpath": "$.order" } },
                  "steps": [{ "set": { "variables": { "order": { "jsonpath": "$.order" } } } }]
                },
                "{{FiveSteps}}": {
                  "start": "orders.accepted",
                  "correlate": { "order": { "jsonpath": "$.order" } },
                  "steps": [{ "call": "hello" }, { "call": "hello" }, { "call": "hello" }, { "call": "hello" }, { "call": "hello" }]
                }
              }
            }
            """;

    private static int FreePort()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        return ((IPEndPoint)listener.LocalEndpoint).Port;
    }

    private sealed class NoAudit : IAuditTrail
    {
        public ValueTask RecordAsync(AuditFact fact, CancellationToken cancellationToken) => ValueTask.CompletedTask;
    }
}
