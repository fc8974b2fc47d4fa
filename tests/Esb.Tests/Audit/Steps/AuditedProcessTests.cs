using Esb.Audit;
using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Configuration.Settings;
using Esb.Content;
using Esb.Core;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Tests.Fakes;
using Esb.Workflows;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using NSubstitute;

namespace Esb.Tests.Audit.Steps;

/// <summary>Audit steps of a process as the configuration has them, each with a pool of its own.</summary>
[FixtureLifeCycle(LifeCycle.InstancePerTestCase), CancelAfter(30_000), Property("Case", "T-AUD-3")]
public sealed class AuditedProcessTests : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("esb-audited-");
    private readonly TaskCompletionSource _recording = new();
    private readonly MemoryAuditTrail _trail;
    private readonly LogLines _log = new();
    private ServiceProvider? _services;

    public AuditedProcessTests() => _trail = new MemoryAuditTrail { Gate = _recording.Task };

    public void Dispose()
    {
        _services?.DisposeAsync().AsTask().GetAwaiter().GetResult(); // pools close asynchronously only
        _log.Dispose();
        _folder.Delete(recursive: true);
    }

    [Test]
    public async Task Message_that_gets_no_turn_in_time_fails_its_process(CancellationToken cancellationToken)
    {
        Compile("""[{ "audit": { "as": "order-received", "maximumInstances": 1, "poolTimeout": "50ms" } }]""");

        var first = RunAsync(cancellationToken);
        var failure = Assert.ThrowsAsync<PoolTimeoutException>(() => RunAsync(cancellationToken));
        _recording.SetResult();
        await first;

        Assert.That(
            failure!.Message,
            Is.EqualTo("No instance of audit step order-received of main became free within 0.05 s; all 1 are in use.")
        );
        Assert.That(
            _log.All.Where(line => line.Level == LogLevel.Warning).Select(line => line.Text.Trim()),
            Is.EqualTo(["waiting for a free instance of audit step order-received of main: all 1 are in use"])
        );
    }

    [Test]
    public async Task Process_catches_the_time_out_and_goes_on(CancellationToken cancellationToken)
    {
        Compile(
            """
            [{ "try": {
                "steps": [{ "audit": { "as": "order-received", "maximumInstances": 1, "poolTimeout": "50ms" } }, { "set": { "properties": { "audited": "yes" } } }],
                "catch": [{ "codes": ["ESB-POOL-TIMEOUT"], "steps": [{ "set": { "properties": { "audited": "no", "why": { "property": "error.reason" } } } }] }]
            } }]
            """
        );

        var first = RunAsync(cancellationToken);
        var second = await RunAsync(cancellationToken);
        _recording.SetResult();

        Assert.That(second.GetProperty("audited"), Is.EqualTo("no"));
        Assert.That(second.GetProperty("why"), Does.StartWith("No instance of audit step order-received of main became free"));
        Assert.That((await first).GetProperty("audited"), Is.EqualTo("yes"));
        Assert.That(_trail.Facts, Has.Count.EqualTo(1));
    }

    [Test]
    public async Task As_many_messages_record_at_once_as_the_step_says_whatever_another_step_does(CancellationToken cancellationToken)
    {
        Compile(
            """
            [{ "choose": {
                "when": [{ "if": { "header": "x-large" }, "steps": [{ "audit": { "as": "large", "maximumInstances": 2 } }] }],
                "otherwise": [{ "audit": { "as": "small", "maximumInstances": 3 } }]
            } }]
            """
        );

        var running = Enumerable
            .Range(0, 10)
            .SelectMany(_ => new[] { RunAsync(cancellationToken), RunAsync(cancellationToken, isLarge: true) })
            .ToList();
        var working = _trail.Working;
        _recording.SetResult();
        await Task.WhenAll(running);

        Assert.That(working, Is.EqualTo(5));
        Assert.That(
            _trail.Facts.GroupBy(fact => fact.Name).Select(facts => (facts.Key, facts.Count())),
            Is.EquivalentTo([("large", 10), ("small", 10)])
        );
    }

    private void Compile(string process)
    {
        var (file, errors) = (Path.Combine(_folder.FullName, "esb.json"), new ConfigErrors());
        File.WriteAllText(
            file,
            $$"""{ "endpoints": { "door": { "type": "door", "process": "main" } }, "processes": { "main": {{process}} } }"""
        );
        var services = new ServiceCollection()
            .AddLogging(logging => logging.AddProvider(_log))
            .AddSingleton(TimeProvider.System)
            .AddSingleton(Substitute.For<ITopicPublisher>())
            .AddSingleton(Substitute.For<IOutgoingPublisher>())
            .AddSingleton(Substitute.For<IEndpointCaller>())
            .AddSingleton(Substitute.For<ITransactions>())
            .AddCompiling(ServiceDescriptor.Singleton(Substitute.For<ITransactionSupport>()))
            .AddEsbConfiguration()
            .AddEsbContent()
            .AddEsbWorkflows()
            .AddEsbAudit()
            .AddSingleton<IAuditTrail>(_trail)
            .AddSingleton(new SettingsKind(typeof(TransportConfig), "memory", typeof(AnyTransportConfig), "For tests."))
            .AddSingleton(new SettingsKind(typeof(StoreConfig), "file", typeof(AnyStoreConfig), "For tests."))
            .AddSingleton(new SettingsKind(typeof(EndpointConfig), "door", typeof(DoorConfig), "For tests."));
        var configuration = new ConfigurationReader(SettingsCatalog.From(services)).Read(file, new Dictionary<string, string>(), errors);
        Assert.That(errors.All, Is.Empty);
        _services = Compiled.Build(services, configuration!, errors);
        Assert.That(errors.All, Is.Empty);
    }

    private async Task<MessageContext> RunAsync(CancellationToken cancellationToken, bool isLarge = false)
    {
        var context = Some.Context(isLarge ? Some.Message() with { Headers = MessageHeaders.From([new("x-large", "1")]) } : Some.Message());
        await _services!.GetRequiredService<IProcessCatalog>().Find("main").RunAsync(context, cancellationToken);
        return context;
    }

    private sealed record AnyTransportConfig : TransportConfig;

    private sealed record AnyStoreConfig : StoreConfig;

    private sealed record DoorConfig : InboundEndpointConfig;
}
