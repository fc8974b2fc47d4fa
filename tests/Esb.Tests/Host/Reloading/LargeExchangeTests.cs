using System.Diagnostics;
using System.Text.Json.Nodes;
using Esb.Configuration.Compiling;
using Esb.Core.Configuration;
using Esb.Delivery.Outbound;
using Esb.Host;
using Esb.Host.Composition;
using Esb.Host.Lifecycle;
using Esb.Host.Reloading;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Host.Reloading;

/// <summary>One endpoint of a thousand is exchanged: the others go on, and it is said how long each part of it takes.</summary>
public sealed class LargeExchangeTests
{
    private const int Inbound = 500;
    private const int Outbound = 500;
    private const int Rounds = 12;

    private DirectoryInfo _folder = null!;

    private string Path => System.IO.Path.Combine(_folder.FullName, "esb.json");

    [SetUp]
    public void MakeFolder() => _folder = Directory.CreateTempSubdirectory("esb-thousand-");

    [TearDown]
    public void DeleteFolder() => _folder.Delete(recursive: true);

    [TestCase("out7", "timeout", "\"31s\""), TestCase("in7", "path", "\"/other\"")]
    [Category("Thorough"), CancelAfter(300_000)]
    public async Task Exchange_of_one_endpoint_of_a_thousand_leaves_the_others_as_they_are(
        string changed,
        string setting,
        string value,
        CancellationToken cancellationToken
    )
    {
        var configuration = Configuration();
        await WriteAsync(configuration);
        await using var services = BusServices.Build(Path, new Dictionary<string, string>(), new ServiceCollection().AddEsb());
        var bus = services.GetRequiredService<BusLifecycle>();
        await bus.StartAsync(cancellationToken);
        var source = services.GetRequiredService<ConfigurationSource>();
        var (exchange, outbound) = (services.GetRequiredService<RevisionExchange>(), services.GetRequiredService<OutboundEndpoints>());
        var endpoint = configuration["endpoints"]![changed]!;
        var (usual, times) = (endpoint[setting]?.DeepClone(), new List<(TimeSpan Compile, TimeSpan Prepare, TimeSpan Switch)>());
        for (var round = 0; round < Rounds; round++)
        {
            endpoint[setting] = round % 2 == 0 ? JsonNode.Parse(value) : usual?.DeepClone();
            if (endpoint[setting] is null)
                endpoint.AsObject().Remove(setting);
            await WriteAsync(configuration);
            var before = ControllersOf(outbound);
            var began = Stopwatch.GetTimestamp();
            var model = source.Compile();
            var compiled = Stopwatch.GetTimestamp();
            var prepared = await exchange.PrepareAsync(model, default, cancellationToken);
            var ready = Stopwatch.GetTimestamp();
            var failures = await exchange.CommitAsync(prepared);
            times.Add(
                (Stopwatch.GetElapsedTime(began, compiled), Stopwatch.GetElapsedTime(compiled, ready), Stopwatch.GetElapsedTime(ready))
            );

            Assert.That(failures, Is.Empty);
            Assert.That(prepared.Changes.Changed, Is.EqualTo(new[] { changed }));
            var kept = ControllersOf(outbound).Where(one => before[one.Key] == one.Value).Select(one => one.Key).ToList();
            Assert.That(kept, Is.EquivalentTo(before.Keys.Where(name => name != changed)), "the others were not stopped");
        }

        await exchange.WaitForLeftoversAsync(cancellationToken);
        await bus.StopAsync(cancellationToken);
        var warm = times.Skip(2).ToList();
        TestContext.Out.WriteLine(
            $"one of {Inbound + Outbound:N0} endpoints changed ({changed}.{setting}), median of {warm.Count}: compile "
                + $"{Median(warm, one => one.Compile):0} ms, prepare {Median(warm, one => one.Prepare):0} ms, switch "
                + $"{Median(warm, one => one.Switch):0} ms; longest switch {times.Max(one => one.Switch.TotalMilliseconds):0} ms"
        );
    }

    private static double Median(
        IEnumerable<(TimeSpan Compile, TimeSpan Prepare, TimeSpan Switch)> times,
        Func<(TimeSpan Compile, TimeSpan Prepare, TimeSpan Switch), TimeSpan> part
    ) => times.Select(one => part(one).TotalMilliseconds).Order().ElementAt((Rounds - 2) / 2);

    private static Dictionary<string, DeliveryController> ControllersOf(OutboundEndpoints endpoints) =>
        Enumerable.Range(0, Outbound).Select(number => $"out{number}").ToDictionary(name => name, name => endpoints.Find(name)!);

    private JsonObject Configuration()
    {
        var endpoints = new JsonObject();
        for (var number = 0; number < Inbound; number++)
            endpoints[$"in{number}"] = new JsonObject
            {
                ["type"] = "http-inbound",
                ["path"] = $"/in{number}",
                ["process"] = "in",
            };
        for (var number = 0; number < Outbound; number++)
            endpoints[$"out{number}"] = new JsonObject
            {
                ["type"] = "file-outbound",
                ["subscribe"] = new JsonArray($"orders.to{number}"),
                ["folder"] = System.IO.Path.Combine(_folder.FullName, "out"),
                ["fileName"] = "{message.id}",
            };
        return new JsonObject
        {
            ["name"] = "thousand",
            ["store"] = new JsonObject { ["type"] = "file", ["folder"] = System.IO.Path.Combine(_folder.FullName, "data") },
            ["telemetry"] = new JsonObject { ["logLevel"] = "error" },
            ["limits"] = new JsonObject { ["drainDelay"] = "0s" },
            ["management"] = new JsonObject { ["url"] = $"http://127.0.0.1:{FreePorts.Next()}" },
            ["listeners"] = new JsonObject { ["public"] = new JsonObject { ["url"] = $"http://127.0.0.1:{FreePorts.Next()}" } },
            ["topics"] = new JsonObject { ["orders"] = new JsonObject() },
            ["processes"] = new JsonObject { ["in"] = new JsonArray(new JsonObject { ["publish"] = "orders.to1" }) },
            ["endpoints"] = endpoints,
        };
    }

    private Task WriteAsync(JsonObject configuration) => File.WriteAllTextAsync(Path, configuration.ToJsonString());
}
