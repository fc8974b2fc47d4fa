using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Sql.Outbox;

/// <summary>Publishes the messages that transactions of one database have put into its outbox (pattern: Transactional Outbox, polling
/// publisher). Runs on every host.</summary>
/// <remarks>
/// The committing host wakes its own lanes. Messages left by other hosts are found by polling each second: a notification in the
/// transaction would serialise all commits of the database, because PostgreSQL lets only one notifying transaction commit at a time.
/// </remarks>
internal sealed partial class OutboxDispatcher(
    Database database,
    OutboxTable table,
    IOutgoingPublisher publisher,
    TimeProvider time,
    ILogger<OutboxDispatcher> logger
) : IAsyncDisposable
{
    private const int MostTurns = 4;
    private const int LooksPerMeasure = 5;
    private static readonly TimeSpan LookInterval = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan StatementTime = TimeSpan.FromSeconds(10);

    // At most half of the connections, to leave some for transactions.
    private readonly SemaphoreSlim _turns = new(Math.Clamp(database.MaxPoolSize / 2, 1, MostTurns));
    private readonly CancellationTokenSource _stopping = new();
    private OutboxLane[] _lanes = [];
    private Task _running = Task.CompletedTask;
    private string? _trouble;
    private (long Waiting, TimeSpan? OldestAge) _measured;

    public OutboxStatus Status =>
        new(
            database.Name,
            _measured.Waiting,
            _measured.OldestAge,
            _trouble ?? _lanes.Select(lane => lane.Obstacle).FirstOrDefault(obstacle => obstacle is not null)
        );

    public void Start()
    {
        _lanes =
        [
            .. Enumerable
                .Range(0, OutboxLanes.Count)
                .Select(lane => new OutboxLane(new OutboxPass((short)lane, table, database, publisher), _turns, time)),
        ];
        table.Filled += Wake;
        _running = Task.WhenAll([LookAsync(_stopping.Token), .. _lanes.Select(lane => lane.RunAsync(_stopping.Token))]);
    }

    /// <summary>Finishes the messages in progress; in memory it also waits until they are settled, or the token is cancelled.</summary>
    public async Task StopAsync(CancellationToken cancellationToken)
    {
        table.Filled -= Wake;
        await _stopping.CancelAsync();
        await _running.WaitAsync(cancellationToken);
    }

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        _stopping.Dispose();
    }

    private void Wake(IReadOnlyCollection<short> lanes)
    {
        foreach (var lane in lanes)
            _lanes[lane].Wake();
    }

    private async Task LookAsync(CancellationToken cancellationToken)
    {
        for (var look = 0; !cancellationToken.IsCancellationRequested; look++)
        {
            try
            {
                await database.Tables.EnsureReadyAsync(cancellationToken);
                await LookAsync(measures: look % LooksPerMeasure == 0, cancellationToken);
                _trouble = null;
                await Task.Delay(LookInterval, time, cancellationToken);
            }
            catch (Exception) when (cancellationToken.IsCancellationRequested)
            {
                return;
            }
            catch (Exception ex) // any failure: an ended loop would leave waiting messages to the next start
            {
                if (_trouble is null)
                    LogTrouble(database.Name, ex);
                _trouble = ex is EsbException ? ex.Message : "The database cannot be used.";
                await Task.Delay(LookInterval, time, CancellationToken.None);
            }
        }
    }

    private Task LookAsync(bool measures, CancellationToken cancellationToken) =>
        database.UseAsync(
            database.Name,
            StatementTime,
            async (connection, limited) =>
            {
                Wake(await table.FindLanesAsync(connection, limited));
                if (!measures)
                    return false;
                _measured = await table.MeasureAsync(connection, limited);
                OutboxTelemetry.Record(database.Name, _measured.Waiting, _measured.OldestAge);
                return true;
            },
            cancellationToken
        );

    [LoggerMessage(EventId = 2320, Level = LogLevel.Warning, Message = "The outbox in {Connection} cannot be read, trying again")]
    private partial void LogTrouble(string connection, Exception exception);
}
