using Microsoft.Extensions.Logging;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Topology;

/// <summary>Declares the queues that keep what no endpoint takes again and again: somebody may delete one by hand, and the broker tells nobody who publishes.</summary>
/// <remarks>
/// It confirms what is unroutable also where the queue that keeps it is gone, and an endpoint holds what it cannot put among the dead letters; of a topic that is
/// gone it says so to the next publish. What is there already stays as it is, and no migration touches any of it. A host that may not declare any more goes on as it is.
/// </remarks>
internal sealed partial class KeeperWatch : IAsyncDisposable
{
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(3);

    private readonly BrokerConnection _publishing;
    private readonly BrokerConnection _consuming;
    private readonly RabbitMqTopology _topology;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly CancellationTokenSource _stopping = new();
    private readonly Task _running;

    /// <param name="publishing">Declares them before it can be used: while it cannot, nothing is declared here either.</param>
    /// <param name="consuming">Where it is declared; no alarm of the broker stops this one.</param>
    /// <param name="topology">Knows what.</param>
    /// <param name="time">Paces it.</param>
    /// <param name="logger">Hears of what failed.</param>
    public KeeperWatch(BrokerConnection publishing, BrokerConnection consuming, RabbitMqTopology topology, TimeProvider time, ILogger logger)
    {
        (_publishing, _consuming, _topology, _time, _logger) = (publishing, consuming, topology, time, logger);
        _running = RunAsync(_stopping.Token);
    }

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        await _running;
    }

    private async Task RunAsync(CancellationToken stopping)
    {
        try
        {
            while (true)
            {
                await Task.Delay(Interval, _time, stopping);
                if (_publishing.Current is not null && _consuming.Current is { } current) await DeclareAsync(current, stopping);
            }
        }
        catch (OperationCanceledException) when (stopping.IsCancellationRequested)
        {
            // Disposed.
        }
    }

    private async Task DeclareAsync(IConnection connection, CancellationToken stopping)
    {
        try
        {
            await using var channel = await connection.CreateChannelAsync(cancellationToken: stopping);
            await _topology.DeclareKeepersAsync(channel, stopping);
        }
        catch (Exception ex) when (ex is not OperationCanceledException || !stopping.IsCancellationRequested)
        {
            LogNotDeclared(ex); // the connection went, or somebody made one of them another way: publishers hear of it
        }
    }

    [LoggerMessage(EventId = 1572, Level = LogLevel.Debug, Message = "The queues for what no endpoint takes could not be declared again; trying again")]
    private partial void LogNotDeclared(Exception exception);
}
