using Esb.Core.Configuration;

namespace Esb.Core.Endpoints;

/// <summary>Refuses what an outbound endpoint says of order, failure and retries that does not hold together.</summary>
internal sealed class DeliveryCheck(EsbConfiguration configuration) : IConfigurationCheck
{
    // Half of what RabbitMQ waits for an acknowledgement (30 minutes): then it takes the message away from who still works on it.
    private static readonly TimeSpan LongestInPlace = TimeSpan.FromMinutes(15);

    public void Check(ConfigErrors errors)
    {
        foreach (var endpoint in configuration.Named<EndpointConfig>("endpoints").Values.OfType<OutboundEndpointConfig>())
        {
            if (endpoint.Delivery == DeliveryMode.Ordered) CheckOrdered(endpoint, errors);
            if (endpoint is { Delivery: DeliveryMode.Parallel, OnFailure: FailureAction.Park } && endpoint.IsSound("delivery"))
                errors.Add("ESB-CFG-UNAVAILABLE", endpoint, "onFailure", "parking is there for delivery \"ordered\" only; expected dead-letter or discard");
            if (endpoint is { Once: true, CanBeOnce: false })
                errors.Add("ESB-CFG-ONCE", endpoint, "once", "only a sql-outbound endpoint with execute can record a message together with its effect");
        }
    }

    private static void CheckOrdered(OutboundEndpointConfig endpoint, ConfigErrors errors)
    {
        if (endpoint.PoolSize > 1) RefuseSecond("poolSize", endpoint, errors);
        if (endpoint.ProcessingThreads > 1) RefuseSecond("processingThreads", endpoint, errors);

        if (!endpoint.IsSound("retry", "timeout")) return;
        var attempts = 1 + endpoint.Retry.Immediate + endpoint.Retry.Delays.Count;
        var longest = endpoint.Retry.Delays.Aggregate(TimeSpan.Zero, (sum, delay) => sum + delay) + (attempts * endpoint.Timeout);
        if (longest > LongestInPlace)
        {
            var taken = $"{attempts} attempts of {Duration.Format(endpoint.Timeout)} and the delays take up to {Duration.Format(longest)}";
            var expected = $"expected at most {Duration.Format(LongestInPlace)}, half of what the broker waits";
            errors.Add("ESB-CFG-ACKTIMEOUT", endpoint, "retry", $"delivery \"ordered\" repeats in place: {taken}; {expected}");
        }
    }

    private static void RefuseSecond(string property, OutboundEndpointConfig endpoint, ConfigErrors errors) =>
        errors.Add("ESB-CFG-ORDERING", endpoint, property, "expected 1, because of delivery \"ordered\": two at once would overtake each other");
}
