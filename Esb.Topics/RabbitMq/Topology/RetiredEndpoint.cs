using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Connections;
using Microsoft.Extensions.Logging;

namespace Esb.Topics.RabbitMq.Topology;

/// <summary>Unbinds the queues of a removed endpoint. Waiting messages stay, and are consumed by an endpoint of that name that
/// returns.</summary>
internal sealed partial class RetiredEndpoint(
    Subscription subscription, RabbitMqNames names, RabbitMqTopology topology, Func<bool> hasReturned, TimeProvider time, ILogger logger)
{
    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(2);

    /// <summary>Tries once, and keeps trying in the background until it succeeds, the endpoint returns or the host stops.</summary>
    public async Task UnbindAsync(BrokerConnection connection, CancellationToken stopping)
    {
        if (!await TryUnbindAsync(connection, stopping)) _ = InsistAsync(connection, stopping);
    }

    private async Task InsistAsync(BrokerConnection connection, CancellationToken stopping)
    {
        do await Task.Delay(Pause, time, stopping).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        while (!stopping.IsCancellationRequested && !hasReturned() && !await TryUnbindAsync(connection, stopping));
    }

    private async Task<bool> TryUnbindAsync(BrokerConnection connection, CancellationToken stopping)
    {
        if (connection.Current is not { } current || names.Chosen(subscription.Endpoint) is not { } queues) return false;
        try
        {
            await using var channel = await current.CreateChannelAsync(cancellationToken: stopping);
            foreach (var pattern in subscription.Patterns) await topology.UnbindAsync(channel, queues, subscription, pattern, stopping);
            return true;
        }
        catch (Exception ex)
        {
            if (!stopping.IsCancellationRequested) LogNotUnbound(subscription.Endpoint, BrokerFault.Describe(ex));
            return false;
        }
    }

    [LoggerMessage(EventId = 1562, Level = LogLevel.Warning, Message = "The queues of {Endpoint}, which is gone, still get messages: {Reason}")]
    private partial void LogNotUnbound(string endpoint, string reason);
}
