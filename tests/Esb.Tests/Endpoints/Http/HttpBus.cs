using System.Net;
using System.Net.Sockets;
using System.Text;
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
using Esb.Delivery.Intake;
using Esb.Endpoints.Http;
using Esb.Storage.Sql;
using Esb.Storage.Sqlite;
using Esb.Tests.Fakes;
using Esb.Tests.Storage;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using NSubstitute;

namespace Esb.Tests.Endpoints.Http;

/// <summary>The endpoints of HTTP on a free port of this machine, with topics and processes that only remember.</summary>
internal sealed class HttpBus : IAsyncDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("esb-http-");
    private readonly Dictionary<string, MessageStep> _processes = [];
    private readonly SqliteDatabase _database;
    private ServiceProvider? _services;
    private bool _isStopped;

    public HttpBus()
    {
        Transport.IsDurable.Returns(true);
        Transport.Status.Returns(new TransportStatus(IsReady: true));
        _database = SomeDatabase.In(Path.Combine(_folder.FullName, "keys"));
        Keys = new IdempotencyKeys(_database, TimeProvider.System);
        Publisher
            .PublishAsync(default!, default!, default!, default)
            .ReturnsForAnyArgs(call =>
            {
                if (call.Arg<MessageContext>() is not { } context)
                    return ValueTask.CompletedTask; // a test is giving another answer
                lock (Published)
                    Published.Add(context.Message);
                return ValueTask.CompletedTask;
            });
        Client = new HttpClient(new SocketsHttpHandler { RequestHeaderEncodingSelector = (_, _) => Encoding.UTF8 })
        {
            BaseAddress = Address,
        };
    }

    public int Port { get; } = FreePorts.Next();

    public Uri Address => new($"http://127.0.0.1:{Port}");

    public HttpClient Client { get; }

    /// <summary>What makes the adapter of each outbound endpoint; null where its settings have an error.</summary>
    public Dictionary<string, Func<IOutboundAdapter>?> Adapters { get; } = [];

    public ConfigErrors Errors { get; } = new();

    /// <summary>The environment, where secrets come from.</summary>
    public Dictionary<string, string> Variables { get; } = [];

    /// <summary>Registers further types.</summary>
    public Action<IServiceCollection> Types { get; init; } = _ => { };

    public TimeProvider Time { get; init; } = TimeProvider.System;

    public AuditLog Audit { get; } = new();

    public ToldAuditGate AuditGate { get; init; } = new();

    public LogLines Log { get; } = new();

    /// <summary>The least level that the log has.</summary>
    public LogLevel LogLevel { get; set; } = LogLevel.Debug;

    public ITopicPublisher Publisher { get; } = Substitute.For<ITopicPublisher>();

    public ITopicTransport Transport { get; } = Substitute.For<ITopicTransport>();

    /// <summary>The keys of requests; those of another bus make this one its successor.</summary>
    public IIdempotencyKeys Keys { get; set; }

    public List<EsbMessage> Published { get; } = [];

    public IReadOnlyList<EndpointStatus> Status => _services!.GetRequiredService<IEndpointMonitor>().Endpoints;

    public IServiceProvider Services => _services!;

    /// <summary>Gives a process of the configuration its work.</summary>
    public HttpBus With(string process, MessageStep run)
    {
        _processes[process] = run;
        return this;
    }

    /// <param name="endpoints">The section <c>endpoints</c>, without its braces.</param>
    /// <param name="more">Further sections, each after a comma.</param>
    public async Task<HttpBus> StartAsync(string endpoints, string more = "")
    {
        Read(endpoints, more);
        Assert.That(Errors.All, Is.Empty);
        await StartPartsAsync();
        return this;
    }

    /// <summary>Starts what was read.</summary>
    public async Task StartPartsAsync()
    {
        foreach (var part in Parts)
            await part.StartAsync(CancellationToken.None);
    }

    /// <summary>Reads and checks a configuration, and starts nothing.</summary>
    public void Read(string endpoints, string more = "")
    {
        var file = Path.Combine(_folder.FullName, "esb.json");
        var listeners = more.Contains("\"listeners\"", StringComparison.Ordinal)
            ? ""
            : $$""", "listeners": { "public": { "url": "{{Address.OriginalString}}" } }""";
        var processes = string.Join(", ", _processes.Keys.Select(name => $"\"{name}\": []"));
        File.WriteAllText(
            file,
            $$"""{ "topics": { "orders": {} }, "processes": { {{processes}} }, "endpoints": { {{endpoints}} }{{listeners}}{{more}} }"""
        );
        var services = new ServiceCollection()
            .AddLogging(logging => logging.SetMinimumLevel(LogLevel).AddProvider(Log))
            .AddSingleton(Time)
            .AddSingleton(Publisher)
            .AddSingleton(Transport)
            .AddSingleton(Keys)
            .AddSingleton<Esb.Core.Audit.IAuditTrail>(Audit)
            .AddSingleton<Esb.Core.Audit.IAuditGate>(AuditGate)
            .AddSingleton(Substitute.For<ILeaseStore>())
            .AddSingleton(Catalog())
            .AddModel(_ => new ProcessModels(new Dictionary<string, StepListModel>()))
            .AddEsbConfiguration()
            .AddEsbContent()
            .AddSingleton(new SettingsKind(typeof(TransportConfig), "memory", typeof(AnyTransportConfig), "For tests."))
            .AddSingleton(new SettingsKind(typeof(StoreConfig), "file", typeof(AnyStoreConfig), "For tests."))
            .AddIntake()
            .AddHttpEndpoints();
        Types(services);
        var configuration = new ConfigurationReader(SettingsCatalog.From(services)).Read(file, Variables, Errors);
        if (configuration is null)
            return;
        _services = Compiled.Build(services, configuration, Errors);
        foreach (var outbound in _services.GetRequiredService<EndpointModels>().Outbound)
            Adapters[outbound.Config.Name] = outbound.Create is { } create ? () => create(_services) : null;
    }

    public Task StopAsync(CancellationToken cancellationToken)
    {
        _isStopped = true;
        return Task.WhenAll(Parts.Select(part => part.StopAsync(cancellationToken)));
    }

    public Task<HttpResponseMessage> PostAsync(
        string path,
        string body,
        string contentType = "application/xml",
        CancellationToken cancellationToken = default
    ) => Client.PostAsync(path, new StringContent(body, Encoding.UTF8, contentType), cancellationToken);

    public async ValueTask DisposeAsync()
    {
        using var abandon = new CancellationTokenSource(TimeSpan.FromSeconds(2));
        if (_services is not null)
        {
            if (!_isStopped)
                await StopAsync(abandon.Token).ContinueWith(_ => { }, TaskScheduler.Default); // what is still under way is aborted
            await _services.DisposeAsync();
        }

        Client.Dispose();
        await _database.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    private IEnumerable<IBusPart> Parts => _services!.GetServices<IBusPart>();

    private IProcessCatalog Catalog()
    {
        var catalog = Substitute.For<IProcessCatalog>();
        foreach (var (name, run) in _processes)
        {
            var process = Substitute.For<IMessageProcess>();
            process.RunAsync(default!, default).ReturnsForAnyArgs(call => run(call.Arg<MessageContext>(), call.Arg<CancellationToken>()));
            catalog.Find(name).Returns(process);
        }

        return catalog;
    }

    private sealed record AnyTransportConfig : TransportConfig;

    private sealed record AnyStoreConfig : StoreConfig;
}
