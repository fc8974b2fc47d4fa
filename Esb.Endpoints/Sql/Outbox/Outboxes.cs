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
    private readonly ConcurrentDictionary<string, (Database Database, OutboxDispatcher Dispatcher)> _dispatchers = new();

    public BusStage Stage => BusStage.Outbound;

    // The outbound endpoints, which processes call: a message is published only after they have subscribed.
    public IReadOnlyList<Type> StartsAfter => [typeof(IEndpointCaller)];

    IReadOnlyList<OutboxStatus> IOutboxMonitor.Outboxes => [.. _dispatchers.Values.Select(running => running.Dispatcher.Status)];

    public Task StartAsync(CancellationToken cancellationToken)
    {
        foreach (var connection in Connections())
            Add(connection).Start();
        return Task.CompletedTask;
    }

    /// <summary>Keeps the dispatcher of a connection on which processes no longer begin transactions: its outbox may still hold
    /// messages. A connection that has changed gets another dispatcher, with its present address and password, once the one before has
    /// stopped: both at once could publish a message twice.</summary>
    public Task ExchangeAsync(Revision next, Leftovers old, CancellationToken cancellationToken)
    {
        foreach (var connection in Connections())
        {
            if (!_dispatchers.TryGetValue(connection, out var running))
                Add(connection).Start();
            else if (running.Database != databases.Find(connection))
                old.Until(ReplaceAsync(running.Dispatcher, Add(connection)));
        }

        return Task.CompletedTask;
    }

    public Task StopAsync(CancellationToken cancellationToken) =>
        Task.WhenAll(_dispatchers.Values.Select(running => running.Dispatcher.StopAsync(cancellationToken)));

    public async ValueTask DisposeAsync()
    {
        foreach (var (_, dispatcher) in _dispatchers.Values)
            await dispatcher.DisposeAsync();
        _dispatchers.Clear();
    }

    private static async Task ReplaceAsync(OutboxDispatcher before, OutboxDispatcher next)
    {
        try
        {
            await before.StopAsync(CancellationToken.None);
            await before.DisposeAsync();
        }
        finally
        {
            next.Start();
        }
    }

    private IEnumerable<string> Connections() =>
        processes
            .Current.Transactions.Concat(workflows.Current.Connections)
            .Concat(SqlInboundConfig.OutboxesOf(endpoints.Current))
            .Distinct()
            .Where(databases.HasBusTables);

    private OutboxDispatcher Add(string connection)
    {
        var database = databases.Find(connection);
        var dispatcher = new OutboxDispatcher(database, tables.Of(connection), publisher, time, logger);
        _dispatchers[connection] = (database, dispatcher);
        return dispatcher;
    }
}
