using System.Collections.Concurrent;
using Esb.Configuration.Revisions;
using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Processes;
using Esb.Core.Workflows;
using Esb.Endpoints.Sql.Inbound;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Sql.Tables;

/// <summary>Keeps the bus's tables ready in each database that needs them, from the start and for the coming days; reports failures and
/// retries.</summary>
internal sealed partial class BusTablesKeeper(
    Live<EndpointModels> endpoints,
    Live<ProcessModels> processes,
    Live<WorkflowTransactions> workflows,
    DatabaseConnections databases,
    TimeProvider time,
    ILogger<BusTablesKeeper> logger
) : IOutboundGround, IRevisionPart, IDisposable
{
    private static readonly TimeSpan Interval = TimeSpan.FromHours(1);
    private static readonly TimeSpan RetryInterval = TimeSpan.FromSeconds(10);

    private readonly CancellationTokenSource _stopping = new();
    private readonly ConcurrentDictionary<string, Task> _keeping = new();

    public BusStage Stage => BusStage.Outbound;

    public Task StartAsync(CancellationToken cancellationToken)
    {
        Keep();
        return Task.CompletedTask;
    }

    public Task ExchangeAsync(Revision next, Leftovers old, CancellationToken cancellationToken)
    {
        Keep();
        return Task.CompletedTask;
    }

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await _stopping.CancelAsync();
        await Task.WhenAll(_keeping.Values);
    }

    public void Dispose() => _stopping.Dispose();

    private void Keep()
    {
        var users = endpoints
            .Current.Outbound.Select(model => model.Config)
            .OfType<SqlOutboundConfig>()
            .Where(endpoint => endpoint is { Enabled: true, Once: true } or { Enabled: true, SingleInstance: true });
        var names = users
            .Select(endpoint => endpoint.Connection)
            .Concat(processes.Current.Transactions)
            .Concat(workflows.Current.Connections)
            .Concat(SqlInboundConfig.OutboxesOf(endpoints.Current))
            .Distinct()
            .Where(databases.HasBusTables);
        foreach (var name in names)
            _keeping.GetOrAdd(name, known => KeepAsync(known, _stopping.Token));
    }

    private async Task KeepAsync(string connection, CancellationToken cancellationToken)
    {
        string? trouble = null;
        while (!cancellationToken.IsCancellationRequested)
        {
            try
            {
                await databases.Find(connection).Tables.KeepAsync(cancellationToken);
                trouble = null;
            }
            catch (Exception) when (cancellationToken.IsCancellationRequested)
            {
                return;
            }
            catch (Exception ex)
            {
                if (ex.Message != trouble)
                    LogTrouble(connection, ex.Message); // logged once, not per attempt
                trouble = ex.Message;
            }

            await Task.Delay(trouble is null ? Interval : RetryInterval, time, cancellationToken)
                .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    [LoggerMessage(
        EventId = 2310,
        Level = LogLevel.Error,
        Message = "The tables of once, transaction and singleInstance in {Connection} are not ready, trying again: {Reason}"
    )]
    private partial void LogTrouble(string connection, string reason);
}
