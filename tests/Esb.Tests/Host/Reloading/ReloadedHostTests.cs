using System.Runtime.CompilerServices;
using System.Text.Json.Nodes;
using Esb.Configuration.Compiling;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Host;
using Esb.Host.Composition;
using Esb.Host.Lifecycle;
using Esb.Host.Reloading;
using Esb.Tests.Fakes;
using Microsoft.Extensions.DependencyInjection;
using NUnit.Framework;

namespace Esb.Tests.Host.Reloading;

/// <summary>A host that is reloaded again and again, in this process: it keeps nothing of what it ran before.</summary>
public sealed class ReloadedHostTests
{
    private const string Map =
        """<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/"><a><xsl:value-of select="."/></a></xsl:template></xsl:stylesheet>""";

    private static readonly Dictionary<string, string> Keys = new() { ["KEY_0"] = "a key of the shop", ["KEY_1"] = "another key of it" };

    private DirectoryInfo _folder = null!;

    private string File => Path.Combine(_folder.FullName, "esb.json");

    [SetUp]
    public void MakeFolder() => _folder = Directory.CreateTempSubdirectory("esb-heap-");

    [TearDown]
    public void DeleteFolder() => _folder.Delete(recursive: true);

    [Test, CancelAfter(180_000)]
    public async Task After_200_reloads_the_heap_is_what_it_was_after_50(CancellationToken cancellationToken)
    {
        const int Early = 50,
            All = 200;
        await System.IO.File.WriteAllTextAsync(Path.Combine(_folder.FullName, "map.xsl"), Map, cancellationToken);
        var configuration = Configuration();
        await WriteAsync(configuration);
        await using var services = BusServices.Build(File, Keys, new ServiceCollection().AddEsb());
        var bus = services.GetRequiredService<BusLifecycle>();
        await bus.StartAsync(cancellationToken);
        var (models, heap) = (new List<WeakReference>(), 0L);
        for (var round = 1; round <= All; round++)
        {
            models.Add(ModelOf(services));
            Change(configuration, round);
            await WriteAsync(configuration);
            await ReloadAsync(services, cancellationToken);
            if (round == Early)
                heap = Heap();
        }

        await Eventually.HoldsAsync(
            () => Collected(models.Skip(1).SkipLast(1)),
            "no earlier revision is held but the first, of which the container was built, and the last, to go back to",
            cancellationToken
        );
        var grown = (double)Heap() / heap;
        await bus.StopAsync(cancellationToken);

        TestContext.Out.WriteLine($"heap after {Early} reloads {heap / 1024:N0} KB, after {All} {grown:P1} of that");
        Assert.That(grown, Is.LessThan(1.05));
    }

    [Test, CancelAfter(60_000)]
    public async Task Host_that_still_starts_is_asked_again_later(CancellationToken cancellationToken)
    {
        await System.IO.File.WriteAllTextAsync(Path.Combine(_folder.FullName, "map.xsl"), Map, cancellationToken);
        await WriteAsync(Configuration());
        await using var services = BusServices.Build(File, Keys, new ServiceCollection().AddEsb());

        var refusal = Assert.ThrowsAsync<EsbException>(() => ReloadAsync(services, cancellationToken))!;
        var bus = services.GetRequiredService<BusLifecycle>();
        await bus.StartAsync(cancellationToken);
        var result = await ReloadAsync(services, cancellationToken);
        await bus.StopAsync(cancellationToken);

        Assert.That((refusal.Code, result.Changes.Count), Is.EqualTo(("ESB-CONFIG-BUSY", 0)));
    }

    [Test, CancelAfter(60_000)]
    public async Task Map_that_changed_is_another_revision(CancellationToken cancellationToken)
    {
        var map = Path.Combine(_folder.FullName, "map.xsl");
        await System.IO.File.WriteAllTextAsync(map, Map, cancellationToken);
        await WriteAsync(Configuration());
        await using var services = BusServices.Build(File, Keys, new ServiceCollection().AddEsb());
        var bus = services.GetRequiredService<BusLifecycle>();
        await bus.StartAsync(cancellationToken);
        var same = await ReloadAsync(services, cancellationToken);
        await System.IO.File.WriteAllTextAsync(map, Map.Replace("<a>", "<a b=\"\">"), cancellationToken);
        var changed = await ReloadAsync(services, cancellationToken);
        await bus.StopAsync(cancellationToken);

        Assert.That((same.Before == same.After, changed.Before == changed.After, changed.Before), Is.EqualTo((true, false, same.After)));
        Assert.That(changed.Changes, Is.EqualTo(new[] { "exchange maps or schemas whose files changed" }));
    }

    private static Task<ReloadResult> ReloadAsync(IServiceProvider services, CancellationToken cancellationToken) =>
        services.GetRequiredService<ReloadDesk>().ReloadAsync(new OperatorDecision("test", Reason: null), default, cancellationToken);

    // Of their own, so that nothing of it stays on the stack.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference ModelOf(IServiceProvider services) => new(services.GetRequiredService<Live<BusModel>>().Current);

    private static bool Collected(IEnumerable<WeakReference> models)
    {
        Heap();
        return models.All(model => !model.IsAlive);
    }

    private static long Heap()
    {
        GC.Collect(GC.MaxGeneration, GCCollectionMode.Forced, blocking: true, compacting: true);
        GC.WaitForPendingFinalizers();
        return GC.GetTotalMemory(forceFullCollection: true);
    }

    private static void Change(JsonObject configuration, int round)
    {
        var endpoints = configuration["endpoints"]!;
        switch (round % 5)
        {
            case 0:
                endpoints["shop"]!["path"] = $"/orders{round}";
                break;
            case 1:
                endpoints["files"]!["fileName"] = $"{{message.id}}-{round}.xml";
                break;
            case 2:
                endpoints["files"]!["subscribe"] = new JsonArray("orders.new", $"orders.round{round}");
                break;
            case 3:
                configuration["processes"]!["in"]![0]!["set"]!["headers"]!["x-round"] = $"{round}";
                break;
            default:
                configuration["parties"]!["shop"]!["apiKeys"] = new JsonArray($"${{env:KEY_{round % 2}}}");
                break;
        }
    }

    private static JsonObject Configuration() =>
        JsonNode
            .Parse(
                $$"""
                {
                  "name": "heap",
                  "store": { "type": "file", "folder": "data" },
                  "telemetry": { "logLevel": "error" },
                  "limits": { "drainDelay": "0s" },
                  "listeners": { "public": { "url": "http://127.0.0.1:{{FreePorts.Next()}}" } },
                  "topics": { "orders": {} },
                  "maps": { "map": "map.xsl" },
                  "parties": { "shop": { "apiKeys": ["${env:KEY_0}"] } },
                  "processes": { "in": [{ "set": { "headers": { "x-round": "0" } } }, { "transform": "map" }, { "publish": "orders.new" }] },
                  "endpoints": {
                    "shop": { "type": "http-inbound", "path": "/orders", "process": "in" },
                    "files": { "type": "file-outbound", "subscribe": ["orders.new"], "folder": "out", "fileName": "{message.id}.xml" }
                  }
                }
                """
            )!
            .AsObject();

    private Task WriteAsync(JsonObject configuration) => System.IO.File.WriteAllTextAsync(File, configuration.ToJsonString());
}
