using Esb.Topics.RabbitMq.Connections;
using Microsoft.Extensions.Logging;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Topology;

/// <summary>Declares a queue, exchange or binding that should exist; an existing one stays unchanged.</summary>
internal delegate Task Declaration(IChannel channel, CancellationToken cancellationToken);

/// <summary>Repeats declarations every 3 s, in case a queue or binding was removed by hand: AMQP does not report that.</summary>
/// <param name="what">The description for the log, such as "the queues of shop".</param>
/// <param name="declarations">Each gets a separate channel, which a refusal by the broker closes.</param>
/// <param name="time">Paces the declarations.</param>
/// <param name="logger">Logs failures.</param>
internal sealed partial class TopologyUpkeep(string what, IReadOnlyList<Declaration> declarations, TimeProvider time, ILogger logger)
{
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(3);

    /// <summary>Runs until stopped.</summary>
    /// <param name="connection">The connection for the declarations.</param>
    /// <param name="isWanted">Checked before each declaration.</param>
    /// <param name="stopping">Ends it.</param>
    public async Task RunAsync(BrokerConnection connection, Func<bool> isWanted, CancellationToken stopping)
    {
        try
        {
            while (true)
            {
                await Task.Delay(Interval, time, stopping);
                foreach (var declaration in declarations)
                {
                    if (isWanted() && connection.Current is { } current)
                        await TryAsync(current, declaration, stopping);
                }
            }
        }
        catch (OperationCanceledException) when (stopping.IsCancellationRequested)
        {
            // Stopped.
        }
    }

    private async Task TryAsync(IConnection connection, Declaration declaration, CancellationToken stopping)
    {
        try
        {
            await using var channel = await connection.CreateChannelAsync(cancellationToken: stopping);
            await declaration(channel, stopping);
        }
        catch (Exception ex) when (ex is not OperationCanceledException || !stopping.IsCancellationRequested)
        {
            LogNotDeclared(what, ex); // the connection was lost, or a queue exists with other settings: publishers or receivers report it
        }
    }

    [LoggerMessage(EventId = 1556, Level = LogLevel.Debug, Message = "{What} could not be declared again; trying again")]
    private partial void LogNotDeclared(string what, Exception exception);
}
