using Esb.Configuration.Compiling;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Storage;
using Esb.Core.Topics;

namespace Esb.Configuration.Rules;

/// <summary>Refuses inconsistent settings for the order, failure and retries of an outbound endpoint.</summary>
internal sealed class DeliveryRule(
    IReadOnlyDictionary<string, EndpointConfig> endpoints, IReadOnlyDictionary<string, TopicConfig> topics, TransportConfig transport, StoreConfig store, UnreadSettings unread) : IConfigurationRule
{
    // Half of RabbitMQ's acknowledgement time-out (30 minutes), after which the broker takes the message away from its consumer.
    private static readonly TimeSpan LongestInPlace = TimeSpan.FromMinutes(15);

    public void Check(ConfigErrors errors)
    {
        foreach (var endpoint in endpoints.Values.OfType<OutboundEndpointConfig>())
        {
            if (endpoint.Delivery == DeliveryMode.Ordered) CheckOrdered(endpoint, errors);
            if (endpoint.Delivery == DeliveryMode.OrderedByKey) CheckOrderedByKey(endpoint, errors);
            if (endpoint.IsSound("delivery", "retry", "timeout")) CheckHold(endpoint, errors);
            if (endpoint is { Delivery: DeliveryMode.Parallel, OnFailure: FailureAction.Park } && endpoint.IsSound("delivery"))
                errors.Add("ESB-CFG-ORDERING", endpoint, "onFailure", "parking keeps an order, which delivery \"parallel\" has not; expected dead-letter or discard");
            if (endpoint is { Once: true, CanBeOnce: false })
                errors.Add("ESB-CFG-ONCE", endpoint, "once", "only a sql-outbound endpoint with execute can record a message together with its effect");
        }
    }

    private static void CheckOrdered(OutboundEndpointConfig endpoint, ConfigErrors errors)
    {
        if (endpoint.PoolSize > 1) RefuseSecond("poolSize", endpoint, errors);
        if (endpoint.ProcessingThreads > 1) RefuseSecond("processingThreads", endpoint, errors);
    }

    private void CheckOrderedByKey(OutboundEndpointConfig endpoint, ConfigErrors errors)
    {
        foreach (var topic in endpoint.Subscribe.Select(pattern => pattern.Topic).Distinct())
        {
            if (topics.TryGetValue(topic, out var config) && config.Key is null && config.IsSound("key"))
                errors.Add("ESB-CFG-ORDERING", endpoint, "delivery", $"keeps the order of keys, but the topic '{topic}' has no key");
        }

        if (unread.IsSound("store") && transport.SpansHosts && !store.IsShared)
            errors.Add("ESB-CFG-STORE", endpoint, "delivery", "several hosts share the lanes, so they must share what is parked: expected a store of type postgres");
    }

    // The time that a message is held: all attempts and delays for ordered delivery, otherwise only the attempts without a delay.
    private static void CheckHold(OutboundEndpointConfig endpoint, ConfigErrors errors)
    {
        var isInPlace = endpoint.Delivery == DeliveryMode.Ordered;
        var attempts = 1 + endpoint.Retry.Immediate + (isInPlace ? endpoint.Retry.Delays.Count : 0);
        var delays = isInPlace ? endpoint.Retry.Delays.Aggregate(TimeSpan.Zero, (sum, delay) => sum + delay) : TimeSpan.Zero;
        var longest = delays + (attempts * endpoint.Timeout);
        if (longest <= LongestInPlace) return;

        var taken = $"{attempts} attempts of {Duration.Format(endpoint.Timeout)}{(isInPlace ? " and the delays" : "")} take up to {Duration.Format(longest)}";
        var expected = $"expected at most {Duration.Format(LongestInPlace)}, half of what the broker waits";
        errors.Add("ESB-CFG-ACKTIMEOUT", endpoint, "retry", $"{(isInPlace ? "delivery \"ordered\" repeats in place: " : "")}{taken}; {expected}");
    }

    private static void RefuseSecond(string property, OutboundEndpointConfig endpoint, ConfigErrors errors) =>
        errors.Add("ESB-CFG-ORDERING", endpoint, property, "expected 1, because of delivery \"ordered\": two at once would overtake each other");
}
