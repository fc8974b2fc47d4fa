using System.Collections.Concurrent;
using Esb.Configuration.Revisions;
using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Core.Workflows;
using Esb.Endpoints.Sql.Inbound;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Sql.Outbox;

/// <summary>The dispatchers of all databases on which processes or inbound endpoints begin transactions. They start after the subscribing
/// endpoints, and stop before them.</summary>
internal sealed class Outboxes(
    Live<ProcessModels> processes,
    Live<WorkflowTransactions> workflows,
    Live<EndpointModels> endpoints,
    DatabaseConnections databases,
    OutboxTables tables,
    IOutgoingPublisher publisher,
    TimeProvider time,
    ILogger<OutboxDispatcher> logger
) : IBusPart, IOutboxMonitor, IRevisionPart, IAsyncDisposable
{
    private readonly ConcurrentDictionary<string, OutboxDispatcher> _dispatchers = new();

    public BusStage Stage => BusStage.Outbound;

    // The outbound endpoints, which processes call: a message is published only after they have subscribed.
    public IReadOnlyList<Type> StartsAfter => [typeof(IEndpointCaller)];

    IReadOnlyList<OutboxStatus> IOutboxMonitor.Outboxes => [.. _dispatchers.Values.Select(dispatcher => dispatcher.Status)];

    public Task StartAsync(CancellationToken cancellationToken)
    {
        Start();
        return Task.CompletedTask;
    }

    /// <summary>Keeps the dispatcher of a connection on which processes no longer begin transactions: its outbox may still hold
    /// messages.</summary>
    public Task ExchangeAsync(Revision next, Leftovers old, CancellationToken cancellationToken)
    {
        Start();
        return Task.CompletedTask;
    }

    public Task StopAsync(CancellationToken cancellationToken) =>
        Task.WhenAll(_dispatchers.Values.Select(dispatcher => dispatcher.StopAsync(cancellationToken)));

    public async ValueTask DisposeAsync()
    {
        foreach (var dispatcher in _dispatchers.Values)
            await dispatcher.DisposeAsync();
        _dispatchers.Clear();
    }

    private void Start()
    {
        var connections = processes
            .Current.Transactions.Concat(workflows.Current.Connections)
            .Concat(SqlInboundConfig.OutboxesOf(endpoints.Current))
            .Distinct()
            .Where(databases.HasBusTables);
        foreach (var connection in connections.Where(connection => !_dispatchers.ContainsKey(connection)))
        {
            var dispatcher = _dispatchers[connection] = new OutboxDispatcher(
                databases.Find(connection),
                tables.Of(connection),
                publisher,
                time,
                logger
            );
            dispatcher.Start();
        }
    }
}
