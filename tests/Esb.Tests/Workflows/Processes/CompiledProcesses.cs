using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Configuration.Settings;
using Esb.Content;
using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Workflows;
using Microsoft.Extensions.DependencyInjection;
using NSubstitute;

namespace Esb.Tests.Workflows.Processes;

/// <summary>Processes compiled from JSON, with an outside that only remembers.</summary>
internal sealed class CompiledProcesses : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("esb-processes-");
    private readonly ServiceProvider? _services;

    /// <param name="processes">The section <c>processes</c>, as JSON.</param>
    /// <param name="place">What both endpoints have to do with on the outside; nothing that could be told by default.</param>
    /// <param name="prepare">Tells what transactions are possible; by default all.</param>
    /// <param name="register">Registers further steps.</param>
    /// <param name="sections">Further sections, as JSON, each with a comma behind it.</param>
    /// <param name="prepared">The process of an endpoint to the outside; null for none.</param>
    /// <param name="files">Further files of the configuration.</param>
    /// <param name="maps">Maps by name; a name without an ending is that of a stylesheet.</param>
    public CompiledProcesses(
        string processes,
        string place = "",
        Action<ITransactionSupport>? prepare = null,
        Action<IServiceCollection>? register = null,
        string sections = "",
        string? prepared = null,
        IReadOnlyList<(string Name, string Text)>? files = null,
        params IReadOnlyList<(string Name, string Text)> maps
    )
    {
        Publisher = Substitute.For<ITopicPublisher>();
        Outgoing = Substitute.For<IOutgoingPublisher>();
        Caller = Substitute.For<IEndpointCaller>();
        Transactions = Substitute.For<ITransactions>();
        var support = Substitute.For<ITransactionSupport>();
        support.ObstacleOf(default!).ReturnsForAnyArgs((string?)null);
        prepare?.Invoke(support);
        var file = Path.Combine(_folder.FullName, "esb.json");
        foreach (var (name, text) in maps.Select(map => (FileOf(map.Name), map.Text)).Concat(files ?? []))
            File.WriteAllText(Path.Combine(_folder.FullName, name), text);
        File.WriteAllText(
            file,
            $$"""
            {
              {{sections}}
              "topics": { "orders": {} },
              "maps": { {{string.Join(
                ", ",
                maps.Select(map => $"\"{Path.GetFileNameWithoutExtension(map.Name)}\": \"{FileOf(map.Name)}\"")
            )}} },
              "connections": { "shop": { "connection": "Host=shop" }, "other": { "connection": "Host=other" } },
              "endpoints": {
                "backend": { "type": "test-outbound", "targets": ["east", "west"], "subscribe": ["orders.query"], "place": "{{place}}"{{(
                prepared is null ? "" : $", \"process\": \"{prepared}\""
            )}} },
                "shop-db": { "type": "test-outbound", "store": "shop" },
                "other-db": { "type": "test-outbound", "store": "other" },
                "door": { "type": "test-inbound", "process": "main", "place": "{{place}}" }
              },
              "processes": {{processes}}
            }
            """
        );

        var services = new ServiceCollection()
            .AddLogging()
            .AddSingleton(TimeProvider.System)
            .AddSingleton(Publisher)
            .AddSingleton(Outgoing)
            .AddSingleton(Caller)
            .AddSingleton(Transactions)
            .AddCompiling(ServiceDescriptor.Singleton(support))
            .AddEsbConfiguration()
            .AddEsbContent()
            .AddEsbWorkflows()
            .AddSingleton(new SettingsKind(typeof(TransportConfig), "memory", typeof(TestTransportConfig), "For tests."))
            .AddSingleton(new SettingsKind(typeof(StoreConfig), "file", typeof(TestStoreConfig), "For tests."))
            .AddSingleton(new SettingsKind(typeof(EndpointConfig), "test-outbound", typeof(TestOutboundConfig), "For tests."))
            .AddSingleton(new SettingsKind(typeof(EndpointConfig), "test-inbound", typeof(TestInboundConfig), "For tests."));
        register?.Invoke(services);
        var configuration = new ConfigurationReader(SettingsCatalog.From(services)).Read(file, new Dictionary<string, string>(), Errors);
        if (configuration is null)
            return;
        _services = Compiled.Build(services, configuration, Errors);
    }

    public ConfigErrors Errors { get; } = new();

    public ITopicPublisher Publisher { get; }

    public IOutgoingPublisher Outgoing { get; }

    public IEndpointCaller Caller { get; }

    public ITransactions Transactions { get; }

    public Task<MessageContext> RunAsync(EsbMessage message, CancellationToken cancellationToken) =>
        RunAsync(Some.Context(message), cancellationToken);

    public async Task<MessageContext> RunAsync(MessageContext context, CancellationToken cancellationToken)
    {
        Assert.That(Errors.All, Is.Empty);
        await _services!.GetRequiredService<IProcessCatalog>().Find("main").RunAsync(context, cancellationToken);
        return context;
    }

    public T Service<T>()
        where T : notnull => _services!.GetRequiredService<T>();

    public IMessageProcess Main => _services!.GetRequiredService<IProcessCatalog>().Find("main");

    public string Describe() => Service<ProcessModels>().Find("main")!.Description;

    private static string FileOf(string map) => Path.HasExtension(map) ? map : $"{map}.xsl";

    public void Dispose()
    {
        _services?.DisposeAsync().AsTask().GetAwaiter().GetResult(); // some services end asynchronously only
        _folder.Delete(recursive: true);
    }

    private sealed record TestOutboundConfig : OutboundEndpointConfig
    {
        [Setting("Where it writes.")]
        public string Place { get; init; } = "";

        [Setting("Which database it writes to.")]
        public string? Store { get; init; }

        [Setting("Which places a call may name.")]
        public IReadOnlyList<string> Targets { get; init; } = [];

        public override string? Database => Store;

        public override bool HasTargets => Targets.Count > 0;

        public override bool TakesRequests => Store is null;

        public override bool MayHaveTarget(string name) => Targets.Contains(name);

        public override bool Answers => true;

        public override string? Address => Place.Length == 0 ? null : Place;
    }

    private sealed record TestInboundConfig : InboundEndpointConfig
    {
        [Setting("Where it reads.")]
        public string Place { get; init; } = "";

        public override string? Address => Place.Length == 0 ? null : Place;
    }

    private sealed record TestTransportConfig : TransportConfig;

    private sealed record TestStoreConfig : StoreConfig;
}
