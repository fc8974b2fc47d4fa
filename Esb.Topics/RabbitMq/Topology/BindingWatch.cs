using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Farm;
using Microsoft.Extensions.Logging;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Topology;

/// <summary>Binds the queues of an endpoint again and again while it consumes: somebody may unbind them by hand, and AMQP neither tells of bindings nor lists them.</summary>
/// <remarks>
/// What is bound already stays as it is; the broker only looks. A host that consumes is never in the middle of a migration, which would have moved the
/// bindings. One that does not hear the farm may have been missed by it, and its patterns unbound on purpose: it leaves them alone.
/// </remarks>
internal sealed partial class BindingWatch(Subscription subscription, RabbitMqTopology topology, FarmMembers farm, TimeProvider time, ILogger logger)
{
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(3);

    /// <summary>Binds until it is stopped.</summary>
    public async Task RunAsync(BrokerConnection connection, Func<bool> isConsuming, CancellationToken stopping)
    {
        try
        {
            while (true)
            {
                await Task.Delay(Interval, time, stopping);
                if (isConsuming() && farm.HearingFor > TimeSpan.Zero && connection.Current is { } current) await BindAsync(current, stopping);
            }
        }
        catch (OperationCanceledException) when (stopping.IsCancellationRequested)
        {
            // The subscription ended.
        }
    }

    private async Task BindAsync(IConnection connection, CancellationToken stopping)
    {
        try
        {
            await using var channel = await connection.CreateChannelAsync(cancellationToken: stopping);
            await topology.BindAsync(channel, subscription, stopping);
        }
        catch (Exception ex) when (ex is not OperationCanceledException || !stopping.IsCancellationRequested)
        {
            LogNotBound(subscription.Endpoint, ex); // the queue or the connection went: its receiver says so
        }
    }

    [LoggerMessage(EventId = 1556, Level = LogLevel.Debug, Message = "The queues of {Endpoint} could not be bound again; trying again")]
    private partial void LogNotBound(string endpoint, Exception exception);
}
