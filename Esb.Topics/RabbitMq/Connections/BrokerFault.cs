using System.Net.Sockets;
using System.Security.Authentication;
using Esb.Topics.RabbitMq.Topology;
using RabbitMQ.Client;
using RabbitMQ.Client.Events;
using RabbitMQ.Client.Exceptions;

namespace Esb.Topics.RabbitMq.Connections;

/// <summary>Describes briefly, without addresses and secrets, why the broker cannot be used.</summary>
internal static class BrokerFault
{
    /// <summary>The broker is unreachable; no further reason is known.</summary>
    public const string Away = "broker away";

    private const string NameUnknown = "the broker's name cannot be resolved";

    private const string ClientRefused = "the broker refuses the certificate of this client, or wants one";

    /// <param name="exception">The failure.</param>
    /// <param name="overTls">True if it happened while a TLS connection was being opened.</param>
    public static string Describe(Exception exception, bool overTls = false)
    {
        var all = Flatten(exception).ToList();
        if (all.OfType<BrokerRefusedException>().FirstOrDefault() is { } refused)
            return refused.Message;
        if (all.Any(ex => ex is AuthenticationFailureException or PossibleAuthenticationFailureException))
            return "ESB-AMQP-AUTH: the broker refuses the credentials";
        if (TlsFaultOf(all, overTls) is { } tls)
            return $"ESB-AMQP-TLS: {tls}";
        if (all.OfType<QueueDriftException>().FirstOrDefault() is { } drift)
            return $"{drift.Code}: {drift.Message}";
        if (
            all.OfType<SocketException>()
                .Any(ex => ex.SocketErrorCode is SocketError.HostNotFound or SocketError.TryAgain or SocketError.NoData)
        )
            return NameUnknown;
        return all.OfType<OperationInterruptedException>().FirstOrDefault()?.ShutdownReason is { } reason ? Describe(reason) : Away;
    }

    /// <summary>Describes why the broker closed a connection or a channel.</summary>
    public static string Describe(ShutdownEventArgs reason) =>
        reason.ReplyCode switch
        {
            503 when reason.ReplyText.Contains("x-consistent-hash", StringComparison.Ordinal) =>
                "ESB-CFG-PLUGIN: the broker cannot make lanes; run there: rabbitmq-plugins enable rabbitmq_consistent_hash_exchange",
            406 when reason.ReplyText.Contains("delivery acknowledgement", StringComparison.Ordinal) =>
                "ESB-AMQP-ACKTIMEOUT: a delivery took longer than the broker waits for its acknowledgement (consumer_timeout)",
            406 => $"ESB-CFG-QUEUEDRIFT: {reason.ReplyText}",
            403 or 404 or 530 => $"ESB-AMQP-TOPOLOGY: {reason.ReplyText}",
            541 when reason.Initiator == ShutdownInitiator.Peer => "the broker ended the connection with INTERNAL_ERROR; its log says why",
            _ => Away,
        };

    // The alert of the peer is text of OpenSSL. With TLS 1.3 it arrives only after the handshake, and may be lost when the connection ends.
    private static string? TlsFaultOf(IReadOnlyList<Exception> all, bool overTls)
    {
        if (all.Any(ex => ex.Message.Contains(" alert ", StringComparison.Ordinal)))
            return ClientRefused;
        if (
            overTls
            && all.Any(ex =>
                ex is EndOfStreamException or SocketException { SocketErrorCode: SocketError.ConnectionReset or SocketError.Shutdown }
            )
        )
            return ClientRefused;
        return all.OfType<AuthenticationException>().LastOrDefault()?.Message;
    }

    /// <summary>True if the fault persists until the operator changes the broker or the configuration.</summary>
    public static bool IsForPeople(string reason) => reason.StartsWith("ESB-CFG-", StringComparison.Ordinal);

    private static IEnumerable<Exception> Flatten(Exception exception) =>
        exception switch
        {
            AggregateException many => many.InnerExceptions.SelectMany(Flatten).Prepend(exception),
            OperationInterruptedException { InnerException: null, ShutdownReason.Exception: { } cause } => Flatten(cause)
                .Prepend(exception),
            { InnerException: { } inner } => Flatten(inner).Prepend(exception),
            _ => [exception],
        };
}

/// <summary>Thrown when this host refuses the broker.</summary>
internal sealed class BrokerRefusedException(string message) : Exception(message);
