using System.Security.Authentication;
using Esb.Topics.RabbitMq.Topology;
using RabbitMQ.Client.Exceptions;

namespace Esb.Topics.RabbitMq;

/// <summary>Says in a few words, without addresses and secrets, why the broker cannot be used.</summary>
internal static class BrokerFault
{
    public static string Describe(Exception exception)
    {
        var all = Flatten(exception).ToList();
        if (all.Any(ex => ex is AuthenticationFailureException or PossibleAuthenticationFailureException)) return "ESB-AMQP-AUTH: the broker refuses the credentials";
        if (all.OfType<AuthenticationException>().FirstOrDefault() is { } tls) return $"ESB-AMQP-TLS: {tls.Message}";
        if (all.OfType<QueueDriftException>().FirstOrDefault() is { } drift) return $"ESB-CFG-QUEUEDRIFT: {drift.Message}";
        return all.OfType<OperationInterruptedException>().FirstOrDefault()?.ShutdownReason switch
        {
            { ReplyCode: 503 } reason when reason.ReplyText.Contains("x-consistent-hash", StringComparison.Ordinal) =>
                "ESB-CFG-PLUGIN: the broker cannot make lanes; run there: rabbitmq-plugins enable rabbitmq_consistent_hash_exchange",
            { ReplyCode: 406 } reason => $"ESB-CFG-QUEUEDRIFT: {reason.ReplyText}",
            { ReplyCode: 403 or 404 or 530 } reason => $"ESB-AMQP-TOPOLOGY: {reason.ReplyText}",
            _ => "broker away",
        };
    }

    /// <summary>Whether it stays like that until somebody changes the broker or the configuration.</summary>
    public static bool IsForPeople(string reason) => reason.StartsWith("ESB-CFG-", StringComparison.Ordinal);

    private static IEnumerable<Exception> Flatten(Exception exception) => exception switch
    {
        AggregateException many => many.InnerExceptions.SelectMany(Flatten).Prepend(exception),
        { InnerException: { } inner } => Flatten(inner).Prepend(exception),
        _ => [exception],
    };
}
