using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Farm;
using Microsoft.Extensions.Logging;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Topology;

/// <summary>Binds the queues of an endpoint again and again while it consumes, and declares those of its delays: somebody may unbind or delete them by hand, and AMQP does not tell.</summary>
/// <remarks>
/// What is there already stays as it is; the broker only looks. A host that consumes is never in the middle of a migration, which would have moved the
/// bindings. One that does not hear the farm may have been missed by it, and its patterns unbound on purpose: it leaves them alone.
/// </remarks>
internal sealed partial class BindingWatch(Subscription subscription, RabbitMqTopology topology, FarmMembers farm, TimeProvider time, ILogger logger)
{
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(3);

    private readonly Func<IChannel, Subscription, CancellationToken, Task>[] _restores =
        subscription.RetryDelays.Count == 0 ? [topology.BindAsync] : [topology.BindAsync, topology.DeclareRungsAsync];

    /// <summary>Goes on until it is stopped.</summary>
    public async Task RunAsync(BrokerConnection connection, Func<bool> isConsuming, CancellationToken stopping)
    {
        try
        {
            while (true)
            {
                await Task.Delay(Interval, time, stopping);
                foreach (var restore in _restores)
                {
                    if (isConsuming() && farm.HearingFor > TimeSpan.Zero && connection.Current is { } current) await TryAsync(current, restore, stopping);
                }
            }
        }
        catch (OperationCanceledException) when (stopping.IsCancellationRequested)
        {
            // The subscription ended.
        }
    }

    // Each over a channel of its own, which a no of the broker costs.
    private async Task TryAsync(IConnection connection, Func<IChannel, Subscription, CancellationToken, Task> restore, CancellationToken stopping)
    {
        try
        {
            await using var channel = await connection.CreateChannelAsync(cancellationToken: stopping);
            await restore(channel, subscription, stopping);
        }
        catch (Exception ex) when (ex is not OperationCanceledException || !stopping.IsCancellationRequested)
        {
            LogNotRestored(subscription.Endpoint, ex); // the queue or the connection went: its receiver says so
        }
    }

    [LoggerMessage(EventId = 1556, Level = LogLevel.Debug, Message = "The queues of {Endpoint} could not be looked after; trying again")]
    private partial void LogNotRestored(string endpoint, Exception exception);
}
