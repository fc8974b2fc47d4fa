using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Connections;

/// <summary>Opens connections within a deadline.</summary>
internal static class ConnectionOpening
{
    // All nodes of a cluster are tried within this time.
    private static readonly TimeSpan Longest = TimeSpan.FromSeconds(20);

    /// <summary>Opens a connection. The client itself would wait forever for the first response of a frozen broker, or of a load balancer
    /// without a backend.</summary>
    /// <exception cref="OperationCanceledException">The attempt took longer than 20 s, or was cancelled.</exception>
    public static async Task<IConnection> OpenAsync(this IConnectionFactory factory, TimeProvider time, CancellationToken cancellationToken)
    {
        using var late = new CancellationTokenSource(Longest, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(late.Token, cancellationToken);
        return await factory.CreateConnectionAsync(either.Token);
    }
}
