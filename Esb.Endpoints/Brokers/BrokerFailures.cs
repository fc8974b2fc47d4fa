using Esb.Core.Brokers;
using Esb.Core.Errors;
using Esb.Core.Topics;

namespace Esb.Endpoints.Brokers;

/// <summary>Failures of publishes to a broker.</summary>
internal static class BrokerFailures
{
    /// <summary>The broker is unreachable, or blocks publishers.</summary>
    public const string Unavailable = "ESB-AMQP-UNAVAILABLE";

    /// <summary>Returns the failure that a result reports; null if it is confirmed.</summary>
    public static EndpointException? Of(string endpoint, BrokerResult result)
    {
        if (result.Outcome == PublishOutcome.Confirmed)
            return null;
        if (result == BrokerResult.Unroutable)
            return new EndpointException(
                endpoint,
                "ESB-AMQP-UNROUTABLE",
                $"No queue at the broker of '{endpoint}' takes the message.",
                isTransient: true
            )
            {
                Detail = result.Reason,
            };
        if (result.IsOutage)
            return Away(endpoint, result.Reason);
        return result.Outcome == PublishOutcome.Unknown
            ? new EndpointException(
                endpoint,
                "ESB-AMQP-UNKNOWN",
                $"The broker of '{endpoint}' did not confirm the message; it is sent again under the same id.",
                isTransient: true
            )
            {
                Detail = result.Reason,
                IsUnanswered = true,
            }
            : new EndpointException(
                endpoint,
                "ESB-AMQP-REFUSED",
                $"The broker of '{endpoint}' did not take the message.",
                isTransient: true
            )
            {
                Detail = result.Reason,
            };
    }

    /// <summary>The failure of a message that cannot leave while the broker is unreachable.</summary>
    public static EndpointException Away(string endpoint, string? reason) =>
        new(endpoint, Unavailable, $"The broker of '{endpoint}' cannot be used at the moment.", isTransient: true)
        {
            Detail = reason,
            IsOutage = true,
            IsUnsent = true,
        };
}
