using Esb.Core;
using Esb.Core.Errors;
using Esb.Host;
using Esb.Host.Composition;
using Esb.Host.Lifecycle;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Host.Lifecycle;

public sealed class StartOrderTests
{
    private DirectoryInfo _folder = null!;

    // Each pair: what starts first, and what starts after it. Names of classes, because most are nobody's business.
    private static readonly (string Earlier, string Later)[] Declared =
    [
        ("FileStore", "AuditMover"),
        ("FileStore", "AuditGate"),
        ("FileStore", "AuditRetention"),
        ("FileStore", "LetterRetention"),
        ("FileStore", "ActivityRetention"),
        ("AuditMover", "TopicsPart"),
        ("TopicsPart", "DeadLetterKeeper"),
        ("BusTablesKeeper", "OutboundEndpoints"),
        ("DeadLetterKeeper", "OutboundEndpoints"),
        ("OutboundEndpoints", "FarmTuning"),
        ("OutboundEndpoints", "QueueHolds"),
        ("OutboundEndpoints", "Outboxes"),
        ("OutboundEndpoints", "ReplayRunner"),
        ("OutboundEndpoints", "Standstills"),
        ("OutboundEndpoints", "BacklogMonitor"),
        ("OutboundEndpoints", "WireTaps"),
        ("ReplayRunner", "HttpListeners"),
        ("HttpListeners", "InboundEndpoints"),
        ("InboundEndpoints", "CallGauges"),
    ];

    [SetUp]
    public void MakeFolder() => _folder = Directory.CreateTempSubdirectory("esb-order-");

    [TearDown]
    public void DeleteFolder() => _folder.Delete(recursive: true);

    [TestCase(1), TestCase(2), TestCase(3), TestCase(4), TestCase(5)]
    public async Task Order_of_a_bus_holds_in_whatever_order_its_parts_are_registered(int seed)
    {
        var file = Path.Combine(_folder.FullName, "esb.json");
        await File.WriteAllTextAsync(file, """{ "store": { "type": "file", "folder": "data" } }""");
        await using var services = BusServices.Build(file, new Dictionary<string, string>(), new ServiceCollection().AddEsb());
        var parts = services.GetServices<IBusPart>().ToArray();
        new Random(seed).Shuffle(parts);

        var order = StartOrder.Of(parts).Select(part => part.GetType().Name).ToList();

        Assert.That(order, Has.Count.EqualTo(parts.Length).And.Unique);
        Assert.That(Declared.SelectMany(pair => new[] { pair.Earlier, pair.Later }).Distinct(), Is.SubsetOf(order));
        Assert.That(Declared.Where(pair => order.IndexOf(pair.Earlier) > order.IndexOf(pair.Later)), Is.Empty);
    }

    [Test]
    public void Parts_that_wait_for_each_other_are_refused_with_their_names()
    {
        var refusal = Assert.Throws<EsbException>(() => StartOrder.Of([new First(), new Second()]))!;

        Assert.That(refusal.Code, Is.EqualTo("ESB-HOST-ORDER"));
        Assert.That(
            refusal.Message,
            Is.EqualTo("The parts of the host cannot start, because they wait for each other: First after Second after First.")
        );
    }

    [Test]
    public void Part_that_waits_for_a_later_stage_is_refused()
    {
        var refusal = Assert.Throws<EsbException>(() => StartOrder.Of([new Early(), new Late()]))!;

        Assert.That(refusal.Message, Does.Contain("Early (Stores) after Late (Inbound)"));
    }

    [Test]
    public void Part_does_not_wait_for_one_that_is_not_there() => Assert.That(StartOrder.Of([new Early()]), Has.Count.EqualTo(1));

    private abstract class Part(BusStage stage, params Type[] after) : IBusPart
    {
        public BusStage Stage => stage;

        public IReadOnlyList<Type> StartsAfter => after;

        public Task StartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

        public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
    }

    private sealed class First() : Part(BusStage.Outbound, typeof(Second));

    private sealed class Second() : Part(BusStage.Outbound, typeof(First));

    private sealed class Early() : Part(BusStage.Stores, typeof(Late));

    private sealed class Late() : Part(BusStage.Inbound);
}
