using Microsoft.Extensions.Logging;
using RabbitMQ.Client;
using RabbitMQ.Client.Exceptions;

namespace Esb.Topics.RabbitMq;

/// <summary>The broker's user of this host. All that it publishes names it, and the broker refuses what names another
/// (https://www.rabbitmq.com/docs/validated-user-id). Thread-safe.</summary>
/// <param name="name">As the host signs in.</param>
/// <param name="logger">Hears of a broker that knows this host by another name.</param>
internal sealed partial class BrokerUser(string name, ILogger logger)
{
    private readonly string? _name = WireLimits.IsShort(name) ? name : null;
    private volatile bool _isRefused;

    /// <summary>Its name; null where the broker knows this host by another one, so that nothing can prove what comes from this
    /// user.</summary>
    public string? Name => _isRefused ? null : _name;

    /// <summary>Whether a message is one of our own user: of this host, or of another that signs in as it does.</summary>
    public bool IsPublisherOf(IReadOnlyBasicProperties properties) => Name is { } own && properties.UserId == own;

    /// <summary>Looks whether the broker takes the name. With some kinds of sign-in (OAuth 2) it takes the user's name from elsewhere, and
    /// a publish under this one would cost its channel.</summary>
    /// <param name="connection">Of this user.</param>
    /// <param name="queue">Gets an empty message, where it exists.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    public async Task ProveAsync(IConnection connection, string queue, CancellationToken cancellationToken)
    {
        if (_name is null) return;
        await using var channel = await connection.CreateChannelAsync(cancellationToken: cancellationToken);
        try
        {
            await channel.BasicPublishAsync("", queue, mandatory: false, new BasicProperties { UserId = _name }, ReadOnlyMemory<byte>.Empty, CancellationToken.None);
            await channel.BasicQosAsync(0, 1, global: false, cancellationToken); // is answered after the publish, or not at all
            _isRefused = false;
        }
        catch (OperationInterruptedException ex) when (ex.ShutdownReason?.ReplyCode == Constants.PreconditionFailed)
        {
            if (!_isRefused) LogRefused(_name, ex.ShutdownReason.ReplyText);
            _isRefused = true;
        }
    }

    [LoggerMessage(EventId = 1559, Level = LogLevel.Warning, Message = "The broker does not know this host as {User}, so that parties of messages do not travel with them: {Reason}")]
    private partial void LogRefused(string user, string reason);
}
