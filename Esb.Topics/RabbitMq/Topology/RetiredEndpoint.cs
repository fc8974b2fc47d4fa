using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Connections;
using Microsoft.Extensions.Logging;

namespace Esb.Topics.RabbitMq.Topology;

/// <summary>Unbinds the queues of a removed endpoint, and counts what still waits in them. Waiting messages stay, and are consumed by an
/// endpoint of that name that returns. Thread-safe.</summary>
internal sealed partial class RetiredEndpoint(
    Subscription subscription,
    RabbitMqNames names,
    RabbitMqTopology topology,
    Func<bool> hasReturned,
    TimeProvider time,
    ILogger logger
)
{
    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(2);

    private long _waiting;
    private bool _isUnbound;

    /// <summary>The number of waiting messages when they were last counted, at most 2 s ago; 0 once the endpoint has returned.</summary>
    public long Waiting => hasReturned() ? 0 : Interlocked.Read(ref _waiting);

    /// <summary>Tries once, and continues in the background until the queues are unbound and empty, the endpoint returns or the host
    /// stops.</summary>
    public async Task UnbindAsync(BrokerConnection connection, CancellationToken stopping)
    {
        if (!await TryFinishAsync(connection, stopping))
            _ = InsistAsync(connection, stopping);
    }

    private async Task InsistAsync(BrokerConnection connection, CancellationToken stopping)
    {
        do await Task.Delay(Pause, time, stopping).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        while (!stopping.IsCancellationRequested && !hasReturned() && !await TryFinishAsync(connection, stopping));
    }

    private async Task<bool> TryFinishAsync(BrokerConnection connection, CancellationToken stopping)
    {
        if (connection.Current is not { } current || names.Chosen(subscription.Endpoint) is not { } queues)
            return false;
        try
        {
            if (!_isUnbound)
            {
                await using var channel = await current.CreateChannelAsync(cancellationToken: stopping);
                foreach (var pattern in subscription.Patterns)
                    await topology.UnbindAsync(channel, queues, subscription, pattern, stopping);
                _isUnbound = true;
            }

            var waiting = await current.CountWaitingAsync(queues, subscription, stopping);
            Interlocked.Exchange(ref _waiting, waiting);
            return waiting == 0;
        }
        catch (Exception ex)
        {
            if (!stopping.IsCancellationRequested && !_isUnbound)
                LogNotUnbound(subscription.Endpoint, BrokerFault.Describe(ex));
            return false;
        }
    }

    [LoggerMessage(
        EventId = 1562,
        Level = LogLevel.Warning,
        Message = "The queues of the removed endpoint {Endpoint} still receive messages: {Reason}"
    )]
    private partial void LogNotUnbound(string endpoint, string reason);
}
