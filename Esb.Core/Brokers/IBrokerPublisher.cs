using Esb.Core.Topics;

namespace Esb.Core.Brokers;

/// <summary>Publishes to a broker, each message confirmed. Thread-safe.</summary>
public interface IBrokerPublisher : IAsyncDisposable
{
    /// <summary>The broker, as addresses name it.</summary>
    BrokerPlace Place { get; }

    /// <summary>Publishes a message; the outcome is known within 10 s.</summary>
    ValueTask<BrokerResult> PublishAsync(BrokerMessage message);

    /// <summary>Looks whether an exchange exists; null if the broker is unreachable.</summary>
    Task<bool?> HasExchangeAsync(string exchange, CancellationToken cancellationToken);
}

/// <summary>A broker and a virtual host.</summary>
/// <param name="Host">The host name.</param>
/// <param name="Port">The port.</param>
/// <param name="VirtualHost">The virtual host; <c>/</c> by default.</param>
/// <param name="IsTls">True if it is reached over TLS.</param>
public sealed record BrokerPlace(string Host, int Port, string VirtualHost, bool IsTls);

/// <summary>Result of a publish to a broker.</summary>
/// <param name="Outcome">Indicates whether the broker has the message.</param>
/// <param name="Reason">The reason of a failure, brief; null if confirmed.</param>
public sealed record BrokerResult(PublishOutcome Outcome, string? Reason = null)
{
    /// <summary>Confirmed.</summary>
    public static readonly BrokerResult Confirmed = new(PublishOutcome.Confirmed);

    /// <summary>No queue takes the message; only for messages that are mandatory.</summary>
    public static readonly BrokerResult Unroutable = new(PublishOutcome.Refused, "no queue takes it");

    /// <summary>True if the broker is unreachable, or accepts nothing: any other message would fail as well.</summary>
    public bool IsOutage { get; init; }
}
