using Microsoft.Extensions.Logging;
using RabbitMQ.Client;
using RabbitMQ.Client.Exceptions;

namespace Esb.Topics.RabbitMq;

/// <summary>The broker user of this host. All published messages name it, and the broker refuses messages that name another user
/// (https://www.rabbitmq.com/docs/validated-user-id). Thread-safe.</summary>
/// <param name="name">The name with which the host signs in.</param>
/// <param name="logger">Logs that the broker knows this host by another name.</param>
internal sealed partial class BrokerUser(string name, ILogger logger)
{
    private readonly string? _name = WireLimits.IsShort(name) ? name : null;
    private volatile bool _isRefused;

    /// <summary>The name of the user; null if the broker knows this host by another name, so that nothing proves that a message is from
    /// this user.</summary>
    public string? Name => _isRefused ? null : _name;

    /// <summary>True if a message is from our own user: from this host, or from another host with the same sign-in.</summary>
    public bool IsPublisherOf(IReadOnlyBasicProperties properties) => Name is { } own && properties.UserId == own;

    /// <summary>Checks that the broker accepts the name. With some kinds of sign-in (OAuth 2) it takes the user's name from elsewhere, and
    /// a publish under this name would cost its channel.</summary>
    /// <param name="connection">A connection of this user.</param>
    /// <param name="queue">Receives an empty message, if it exists.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    public async Task ProveAsync(IConnection connection, string queue, CancellationToken cancellationToken)
    {
        if (_name is null)
            return;
        await using var channel = await connection.CreateChannelAsync(cancellationToken: cancellationToken);
        try
        {
            await channel.BasicPublishAsync(
                "",
                queue,
                mandatory: false,
                new BasicProperties { UserId = _name },
                ReadOnlyMemory<byte>.Empty,
                CancellationToken.None
            );
            await channel.BasicQosAsync(0, 1, global: false, cancellationToken); // answered after the publish, or not at all
            _isRefused = false;
        }
        catch (OperationInterruptedException ex) when (ex.ShutdownReason?.ReplyCode == Constants.PreconditionFailed)
        {
            if (!_isRefused)
                LogRefused(_name, ex.ShutdownReason.ReplyText);
            _isRefused = true;
        }
    }

    [LoggerMessage(
        EventId = 1559,
        Level = LogLevel.Warning,
        Message = "The broker does not know this host as {User}, so that parties of messages do not travel with them: {Reason}"
    )]
    private partial void LogRefused(string user, string reason);
}
