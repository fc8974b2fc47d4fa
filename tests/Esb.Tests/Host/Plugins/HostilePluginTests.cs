using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Host;
using Esb.Host.Composition;
using Esb.Host.Lifecycle;
using Esb.Host.Plugins;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Host.Plugins;

/// <summary>What a plug-in's endpoint or step does wrong hurts its own messages; the host starts, and the endpoints beside it get
/// theirs.</summary>
public sealed class HostilePluginTests
{
    private const int Messages = 2;

    private DirectoryInfo _folder = null!;

    [SetUp]
    public void MakeFolder()
    {
        HostileThings.Over.Reset();
        _folder = Directory.CreateTempSubdirectory("esb-hostile-");
    }

    [TearDown]
    public void DeleteFolder()
    {
        HostileThings.Over.Set();
        _folder.Delete(recursive: true);
    }

    [CancelAfter(60_000)]
    [TestCase(Misdeed.ThrowsPerInstance, "ESB-ENDPOINT-FAILED"), TestCase(Misdeed.Throws, "ESB-ENDPOINT-FAILED")]
    [TestCase(Misdeed.Hangs, "ESB-ENDPOINT-TIMEOUT"), TestCase(Misdeed.Blocks, "ESB-ENDPOINT-TIMEOUT")]
    public async Task Endpoint_fails_its_own_messages(Misdeed misdeed, string code, CancellationToken cancellationToken)
    {
        await using var bus = await StartAsync(
            $$""" "bad": { "type": "hostile-outbound", "does": "{{Written(misdeed)}}", {{Delivery}} } """,
            cancellationToken
        );

        await PublishAsync(bus, cancellationToken);

        await WaitAsync(async () => await LettersAsync(bus, cancellationToken) is { Count: Messages }, cancellationToken);
        Assert.That(await LettersAsync(bus, cancellationToken), Is.All.EqualTo(("bad", code)));
        await WaitAsync(() => Task.FromResult(Delivered == Messages), cancellationToken);
        await StopAsync(bus, cancellationToken);
    }

    [CancelAfter(60_000)]
    [TestCase(Misdeed.ThrowsWhenMade, "ESB-PROC-FAILED"), TestCase(Misdeed.Throws, "ESB-PROC-FAILED")]
    [TestCase(Misdeed.Hangs, "ESB-ENDPOINT-TIMEOUT"), TestCase(Misdeed.Blocks, "ESB-ENDPOINT-TIMEOUT")]
    public async Task Step_fails_the_messages_of_its_process(Misdeed misdeed, string code, CancellationToken cancellationToken)
    {
        await using var bus = await StartAsync(
            $$""" "bad": { "type": "process", "process": "bad", {{Delivery}} } """,
            cancellationToken,
            $$""" "bad": [{ "hostile": "{{Written(misdeed)}}" }] """
        );

        await PublishAsync(bus, cancellationToken);

        await WaitAsync(async () => await LettersAsync(bus, cancellationToken) is { Count: Messages }, cancellationToken);
        Assert.That(await LettersAsync(bus, cancellationToken), Is.All.EqualTo(("bad", code)));
        await WaitAsync(() => Task.FromResult(Delivered == Messages), cancellationToken);
        await StopAsync(bus, cancellationToken);
    }

    [Test, CancelAfter(60_000)]
    public async Task Messages_of_an_endpoint_that_cannot_be_made_wait_and_the_others_are_delivered(CancellationToken cancellationToken)
    {
        await using var bus = await StartAsync(
            $$""" "bad": { "type": "hostile-outbound", "does": "throws-when-made", {{Delivery}} } """,
            cancellationToken
        );

        await PublishAsync(bus, cancellationToken);

        await WaitAsync(
            () => Task.FromResult(Delivered == Messages && StatusOf(bus, "bad").State == EndpointState.Paused),
            cancellationToken
        );
        Assert.That(StatusOf(bus, "bad").Reason, Does.Contain("NotSupportedException"));
        Assert.That(await LettersAsync(bus, cancellationToken), Is.Empty);
        await StopAsync(bus, cancellationToken);
    }

    [CancelAfter(60_000)]
    [TestCase(Misdeed.ThrowsWhenMade, "It never worked."), TestCase(Misdeed.Throws, "It never worked.")]
    [TestCase(Misdeed.Hangs, "did not start within"), TestCase(Misdeed.Blocks, "did not start within")]
    public async Task Inbound_endpoint_that_does_not_start_is_stopped_and_the_host_goes_on(
        Misdeed misdeed,
        string reason,
        CancellationToken cancellationToken
    )
    {
        await using var bus = await StartAsync(
            $$""" "bad": { "type": "hostile-inbound", "publish": "orders.new", "does": "{{Written(misdeed)}}" } """,
            cancellationToken
        );

        await PublishAsync(bus, cancellationToken);

        await WaitAsync(() => Task.FromResult(Delivered == Messages), cancellationToken);
        Assert.That(StatusOf(bus, "bad").State, Is.EqualTo(EndpointState.Stopped));
        Assert.That(StatusOf(bus, "bad").Reason, Does.Contain(reason));
        await StopAsync(bus, cancellationToken);
    }

    private const string Delivery = """
        "subscribe": ["orders.#"], "timeout": "1s", "poolSize": 4, "processingThreads": 4, "retry": { "immediate": 0, "delays": [] }
        """;

    private string Out => Path.Combine(_folder.FullName, "out");

    private int Delivered => Directory.Exists(Out) ? Directory.GetFiles(Out, "*.txt").Length : 0;

    private async Task<ServiceProvider> StartAsync(string endpoint, CancellationToken cancellationToken, string processes = "")
    {
        var plugins = Path.Combine(_folder.FullName, "plugins");
        var assembly = Directory.CreateDirectory(Path.Combine(plugins, "hostile"));
        await File.WriteAllBytesAsync(
            Path.Combine(assembly.FullName, "hostile.dll"),
            new PluginAssembly("hostile").WithClass("Entry", nameof(Registrations.Hostile)).Write(),
            cancellationToken
        );
        var file = Path.Combine(_folder.FullName, "esb.json");
        await File.WriteAllTextAsync(
            file,
            $$"""
            {
              "store": { "type": "file", "folder": "data" }, "telemetry": { "logLevel": "error" }, "limits": { "drainDelay": "0s", "drainTimeout": "1s" },
              "topics": { "orders": {} },
              "processes": { {{processes}} },
              "endpoints": {
                "good": { "type": "file-outbound", "subscribe": ["orders.#"], "folder": "out", "fileName": "{message.id}.txt" },
                {{endpoint}}
              }
            }
            """,
            cancellationToken
        );
        var catalog = PluginCatalog.Load([plugins], new ConfigErrors());
        var services = BusServices.Build(file, new Dictionary<string, string>(), catalog.AddTo(new ServiceCollection().AddEsb()));
        await services.GetRequiredService<BusLifecycle>().StartAsync(cancellationToken);
        return services;
    }

    private static async Task PublishAsync(IServiceProvider bus, CancellationToken cancellationToken)
    {
        for (var i = 0; i < Messages; i++)
        {
            var published = await bus.GetRequiredService<ITopicTransport>()
                .PublishAsync(Some.Message("<order/>", "orders.new"), cancellationToken);
            Assert.That(published.Outcome, Is.EqualTo(PublishOutcome.Confirmed));
        }
    }

    private static async Task StopAsync(IServiceProvider bus, CancellationToken cancellationToken)
    {
        HostileThings.Over.Set();
        await bus.GetRequiredService<BusLifecycle>().StopAsync(cancellationToken);
    }

    private static async Task<List<(string Endpoint, string Code)>> LettersAsync(
        IServiceProvider bus,
        CancellationToken cancellationToken
    ) =>
        await bus.GetRequiredService<IDeadLetterStore>()
            .FindAsync(new DeadLetterQuery(), cancellationToken)
            .Select(letter => (letter.Endpoint, letter.Code))
            .ToListAsync(cancellationToken);

    private static EndpointStatus StatusOf(IServiceProvider bus, string endpoint) =>
        bus.GetServices<IEndpointMonitor>().SelectMany(monitor => monitor.Endpoints).Single(status => status.Name == endpoint);

    private static string Written(Misdeed misdeed) => System.Text.Json.JsonNamingPolicy.KebabCaseLower.ConvertName(misdeed.ToString());

    private static async Task WaitAsync(Func<Task<bool>> condition, CancellationToken cancellationToken)
    {
        while (!await condition())
            await Task.Delay(20, cancellationToken);
    }
}
