using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Endpoints.Sql.Tables;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Sql.Outbox;

/// <summary>The dispatchers of all databases that processes begin transactions on. They start after the endpoints that subscribe, and stop before them.</summary>
internal sealed class Outboxes(
    EsbConfiguration configuration,
    DatabaseConnections databases,
    OutboxTables tables,
    IOutgoingPublisher publisher,
    TimeProvider time,
    ILogger<OutboxDispatcher> logger) : IBusPart, IOutboxMonitor, IAsyncDisposable
{
    private readonly List<OutboxDispatcher> _dispatchers = [];

    public BusStage Stage => BusStage.Outbound;

    IReadOnlyList<OutboxStatus> IOutboxMonitor.Outboxes => [.. _dispatchers.Select(dispatcher => dispatcher.Status)];

    public Task StartAsync(CancellationToken cancellationToken)
    {
        foreach (var connection in BusTablesKeeper.TransactionsOf(configuration))
        {
            var dispatcher = new OutboxDispatcher(databases.Find(connection), tables.Of(connection), publisher, time, logger);
            dispatcher.Start();
            _dispatchers.Add(dispatcher);
        }

        return Task.CompletedTask;
    }

    public Task StopAsync(CancellationToken cancellationToken) => Task.WhenAll(_dispatchers.Select(dispatcher => dispatcher.StopAsync(cancellationToken)));

    public async ValueTask DisposeAsync()
    {
        foreach (var dispatcher in _dispatchers) await dispatcher.DisposeAsync();
        _dispatchers.Clear();
    }
}
