using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Host;
using Esb.Host.Composition;
using Esb.Host.Lifecycle;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.IntegrationTests.Transactions;

/// <summary>A bus of a configuration, composed as a host composes it, in this process.</summary>
internal sealed class InProcessBus : IAsyncDisposable
{
    private readonly DirectoryInfo _folder;
    private readonly ServiceProvider _services;
    private readonly BusLifecycle _lifecycle;
    private bool _isDisposed;

    private InProcessBus(DirectoryInfo folder, ServiceProvider services)
    {
        _folder = folder;
        _services = services;
        _lifecycle = services.GetRequiredService<BusLifecycle>();
    }

    public IReadOnlyList<OutboxStatus> Outboxes => _services.GetRequiredService<IOutboxMonitor>().Outboxes;

    public IReadOnlyList<EndpointStatus> Endpoints =>
        [.. _services.GetServices<IEndpointMonitor>().SelectMany(monitor => monitor.Endpoints)];

    /// <summary>The topics, for a test to subscribe to.</summary>
    public ITopicTransport Transport => _services.GetRequiredService<ITopicTransport>();

    private IAuditStore Audit => _services.GetRequiredService<IAuditStore>();

    /// <param name="sections">The sections of the configuration beside <c>store</c> and <c>telemetry</c>.</param>
    /// <param name="variables">For references.</param>
    /// <param name="cancellationToken">Stops the start.</param>
    public static async Task<InProcessBus> StartAsync(
        string sections,
        IReadOnlyDictionary<string, string> variables,
        CancellationToken cancellationToken
    )
    {
        var folder = Directory.CreateTempSubdirectory("esb-bus-");
        var file = Path.Combine(folder.FullName, "esb.json");
        await File.WriteAllTextAsync(
            file,
            $$"""{ "store": { "type": "file", "folder": "data" }, "telemetry": { "logLevel": "error" }, "limits": { "drainDelay": "0s" }, {{sections}} }""",
            cancellationToken
        );
        var bus = new InProcessBus(folder, BusServices.Build(file, variables, new ServiceCollection().AddEsb()));
        await bus._lifecycle.StartAsync(cancellationToken);
        return bus;
    }

    public async Task PublishAsync(EsbMessage message, CancellationToken cancellationToken)
    {
        while ((await Transport.PublishAsync(message, cancellationToken)).Outcome != PublishOutcome.Confirmed)
            await Task.Delay(5, cancellationToken); // as many are under way as may be
    }

    /// <summary>Runs a process on a message, as an inbound endpoint does.</summary>
    public async Task<MessageContext> RunAsync(string process, EsbMessage message, CancellationToken cancellationToken)
    {
        var context = new MessageContext(message, "door");
        await _services.GetRequiredService<Live<IProcessCatalog>>().Current.Find(process).RunAsync(context, cancellationToken);
        return context;
    }

    public async Task<IReadOnlyList<AuditFact>> FindAsync(AuditKind kind, CancellationToken cancellationToken)
    {
        var facts = new List<AuditFact>();
        while (true)
        {
            var before = facts.Count;
            var query = new AuditQuery
            {
                Kind = kind,
                Limit = 1000,
                Before = before == 0 ? null : facts[^1].Id,
            };
            await foreach (var fact in Audit.FindAsync(query, cancellationToken))
                facts.Add(fact);
            if (facts.Count == before)
                return facts;
        }
    }

    public Task StopAsync() => _lifecycle.StopAsync(CancellationToken.None);

    public async ValueTask DisposeAsync()
    {
        if (_isDisposed)
            return;
        _isDisposed = true;
        await _lifecycle.StopAsync(CancellationToken.None);
        await _services.DisposeAsync();
        _folder.Delete(recursive: true);
    }
}
