using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Connections;

/// <summary>Opens connections within a deadline.</summary>
internal static class ConnectionOpening
{
    // All nodes of a cluster are tried within it.
    private static readonly TimeSpan Longest = TimeSpan.FromSeconds(20);

    /// <summary>Opens a connection. The client itself waits for ever for the first word of a broker that takes the connection: one that is frozen, or a balancer with nobody behind it.</summary>
    /// <exception cref="OperationCanceledException">It took longer than 20 s, or was cancelled.</exception>
    public static async Task<IConnection> OpenAsync(this IConnectionFactory factory, TimeProvider time, CancellationToken cancellationToken)
    {
        using var late = new CancellationTokenSource(Longest, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(late.Token, cancellationToken);
        return await factory.CreateConnectionAsync(either.Token);
    }
}
