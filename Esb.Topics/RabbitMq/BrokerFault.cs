using System.Security.Authentication;
using RabbitMQ.Client.Events;
using RabbitMQ.Client.Exceptions;

namespace Esb.Topics.RabbitMq;

/// <summary>Says in a few words, without addresses and secrets, why the broker cannot be used.</summary>
internal static class BrokerFault
{
    /// <summary>Nothing is known but that it cannot be reached.</summary>
    public const string Away = "broker away";

    public static string Describe(Exception exception)
    {
        var all = Flatten(exception).ToList();
        if (all.OfType<BrokerRefusedException>().FirstOrDefault() is { } refused) return refused.Message;
        if (all.Any(ex => ex is AuthenticationFailureException or PossibleAuthenticationFailureException)) return "ESB-AMQP-AUTH: the broker refuses the credentials";
        if (all.OfType<AuthenticationException>().LastOrDefault() is { } tls) return $"ESB-AMQP-TLS: {tls.Message}";
        return all.OfType<OperationInterruptedException>().FirstOrDefault()?.ShutdownReason is { } reason ? Describe(reason) : Away;
    }

    /// <summary>Why the broker closed a connection or a channel.</summary>
    public static string Describe(ShutdownEventArgs reason) => reason.ReplyCode switch
    {
        406 => $"ESB-CFG-QUEUEDRIFT: {reason.ReplyText}",
        403 or 404 or 530 => $"ESB-AMQP-TOPOLOGY: {reason.ReplyText}",
        _ => Away,
    };

    private static IEnumerable<Exception> Flatten(Exception exception) => exception switch
    {
        AggregateException many => many.InnerExceptions.SelectMany(Flatten).Prepend(exception),
        { InnerException: { } inner } => Flatten(inner).Prepend(exception),
        _ => [exception],
    };
}

/// <summary>We refuse the broker.</summary>
internal sealed class BrokerRefusedException(string message) : Exception(message);
