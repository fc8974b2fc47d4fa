using Esb.Core.Configuration;
using Esb.Core.Endpoints;

namespace Esb.Configuration.Rules;

/// <summary>The time that an endpoint may hold a message without an answer to the broker.</summary>
public static class DeliveryHold
{
    // Half of RabbitMQ's acknowledgement time-out (30 minutes), after which the broker takes the message away from its consumer.
    private static readonly TimeSpan LongestInPlace = TimeSpan.FromMinutes(15);

    /// <summary>Returns why an endpoint would hold messages too long; null if it does not.</summary>
    /// <remarks>Ordered delivery holds a message for all attempts and delays, other modes only for the attempts without a delay.</remarks>
    public static string? FaultOf(OutboundEndpointConfig endpoint)
    {
        var isInPlace = endpoint.Delivery == DeliveryMode.Ordered;
        var attempts = 1 + endpoint.Retry.Immediate + (isInPlace ? endpoint.Retry.Delays.Count : 0);
        var delays = isInPlace ? endpoint.Retry.Delays.Aggregate(TimeSpan.Zero, (sum, delay) => sum + delay) : TimeSpan.Zero;
        var longest = delays + (attempts * endpoint.Timeout);
        if (longest <= LongestInPlace)
            return null;

        var taken =
            $"{attempts} attempts of {Duration.Format(endpoint.Timeout)}{(isInPlace ? " and the delays" : "")} take up to "
            + $"{Duration.Format(longest)}";
        var expected = $"expected at most {Duration.Format(LongestInPlace)}, half of what the broker waits";
        return $"{(isInPlace ? "delivery \"ordered\" repeats in place: " : "")}{taken}; {expected}";
    }
}
