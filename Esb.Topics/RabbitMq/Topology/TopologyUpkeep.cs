using Esb.Topics.RabbitMq.Connections;
using Microsoft.Extensions.Logging;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Topology;

/// <summary>Declares something that should be there; what is there already stays as it is.</summary>
internal delegate Task Declaration(IChannel channel, CancellationToken cancellationToken);

/// <summary>Declares again and again, every 3 s, what somebody may have deleted or unbound by hand: AMQP does not tell.</summary>
/// <param name="what">For the log, such as "the queues of shop".</param>
/// <param name="declarations">Each gets a channel of its own, which a no of the broker costs.</param>
/// <param name="time">Paces it.</param>
/// <param name="logger">Hears of what failed.</param>
internal sealed partial class TopologyUpkeep(string what, IReadOnlyList<Declaration> declarations, TimeProvider time, ILogger logger)
{
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(3);

    /// <summary>Goes on until it is stopped.</summary>
    /// <param name="connection">Where it is declared.</param>
    /// <param name="isWanted">Is asked before each declaration.</param>
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
                    if (isWanted() && connection.Current is { } current) await TryAsync(current, declaration, stopping);
                }
            }
        }
        catch (OperationCanceledException) when (stopping.IsCancellationRequested)
        {
            // Nobody wants it any more.
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
            LogNotDeclared(what, ex); // the connection went, or somebody made one of them another way: who publishes or receives says so
        }
    }

    [LoggerMessage(EventId = 1556, Level = LogLevel.Debug, Message = "{What} could not be declared again; trying again")]
    private partial void LogNotDeclared(string what, Exception exception);
}
