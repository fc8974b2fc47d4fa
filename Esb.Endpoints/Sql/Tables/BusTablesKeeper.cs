using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Processes;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Sql.Tables;

/// <summary>Has our tables ready in each database that needs them, from the start on and for the days ahead; what it cannot do it says, and tries again.</summary>
internal sealed partial class BusTablesKeeper(EsbConfiguration configuration, DatabaseConnections databases, TimeProvider time, ILogger<BusTablesKeeper> logger) : IBusPart, IDisposable
{
    private static readonly TimeSpan Interval = TimeSpan.FromHours(1);
    private static readonly TimeSpan RetryInterval = TimeSpan.FromSeconds(10);

    private readonly CancellationTokenSource _stopping = new();
    private Task _keeping = Task.CompletedTask;

    public BusStage Stage => BusStage.Outbound;

    public Task StartAsync(CancellationToken cancellationToken)
    {
        var endpoints = configuration.Named<EndpointConfig>("endpoints").Values.OfType<SqlOutboundConfig>().Where(endpoint => endpoint is { Enabled: true, Once: true } or { Enabled: true, SingleInstance: true });
        var names = endpoints.Select(endpoint => endpoint.Connection).Concat(TransactionsOf(configuration)).Distinct();
        _keeping = Task.WhenAll(names.Select(name => KeepAsync(databases.Find(name), _stopping.Token)).ToList());
        return Task.CompletedTask;
    }

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await _stopping.CancelAsync();
        await _keeping;
    }

    /// <summary>The connections that processes begin transactions on.</summary>
    public static IEnumerable<string> TransactionsOf(EsbConfiguration configuration) =>
        StepTree.Descend(configuration.Named<IReadOnlyList<StepConfig>>("processes").Values.SelectMany(steps => steps))
            .Select(step => step.Settings)
            .OfType<IBeginsTransaction>()
            .Select(settings => settings.Connection)
            .Distinct();

    public void Dispose() => _stopping.Dispose();

    private async Task KeepAsync(Database database, CancellationToken cancellationToken)
    {
        string? trouble = null;
        while (!cancellationToken.IsCancellationRequested)
        {
            try
            {
                await database.Tables.KeepAsync(cancellationToken);
                trouble = null;
            }
            catch (Exception) when (cancellationToken.IsCancellationRequested)
            {
                return;
            }
            catch (Exception ex)
            {
                if (ex.Message != trouble) LogTrouble(database.Name, ex.Message); // once, however often it is tried
                trouble = ex.Message;
            }

            await Task.Delay(trouble is null ? Interval : RetryInterval, time, cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    [LoggerMessage(EventId = 2310, Level = LogLevel.Error, Message = "The tables of once, transaction and singleInstance in {Connection} are not ready, trying again: {Reason}")]
    private partial void LogTrouble(string connection, string reason);
}
