using Esb.Configuration.Compiling;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Storage;
using Esb.Core.Topics;

namespace Esb.Configuration.Rules;

/// <summary>Refuses inconsistent settings for the order, failure and retries of an outbound endpoint.</summary>
internal sealed class DeliveryRule(
    IReadOnlyDictionary<string, EndpointConfig> endpoints,
    IReadOnlyDictionary<string, TopicConfig> topics,
    TransportConfig transport,
    StoreConfig store,
    UnreadSettings unread
) : IConfigurationRule
{
    public void Check(ConfigErrors errors)
    {
        foreach (var endpoint in endpoints.Values.OfType<OutboundEndpointConfig>())
        {
            if (endpoint.Delivery == DeliveryMode.Ordered)
                CheckOrdered(endpoint, errors);
            if (endpoint.Delivery == DeliveryMode.OrderedByKey)
                CheckOrderedByKey(endpoint, errors);
            if (endpoint.IsSound("delivery", "retry", "timeout"))
                CheckHold(endpoint, errors);
            if (endpoint is { Delivery: DeliveryMode.Parallel, OnFailure: FailureAction.Park } && endpoint.IsSound("delivery"))
                errors.Add(
                    "ESB-CFG-ORDERING",
                    endpoint,
                    "onFailure",
                    "parking keeps an order, which delivery \"parallel\" has not; expected dead-letter or discard"
                );
            if (endpoint is { Paused: true, Subscribe.Count: 0 } && endpoint.IsSound("paused", "subscribe"))
                errors.Add(
                    "ESB-CFG-PAUSED",
                    endpoint,
                    "paused",
                    "expected an endpoint that subscribes to something: calls and relays have no queue to wait in"
                );
            if (endpoint is { Once: true, CanBeOnce: false })
                errors.Add(
                    "ESB-CFG-ONCE",
                    endpoint,
                    "once",
                    "only a sql-outbound endpoint with execute can record a message together with its effect"
                );
        }
    }

    private static void CheckOrdered(OutboundEndpointConfig endpoint, ConfigErrors errors)
    {
        if (endpoint.PoolSize > 1)
            RefuseSecond("poolSize", endpoint, errors);
        if (endpoint.ProcessingThreads > 1)
            RefuseSecond("processingThreads", endpoint, errors);
    }

    private void CheckOrderedByKey(OutboundEndpointConfig endpoint, ConfigErrors errors)
    {
        foreach (var topic in endpoint.Subscribe.Select(pattern => pattern.Topic).Distinct())
        {
            if (topics.TryGetValue(topic, out var config) && config.Key is null && config.IsSound("key"))
                errors.Add("ESB-CFG-ORDERING", endpoint, "delivery", $"keeps the order of keys, but the topic '{topic}' has no key");
        }

        if (unread.IsSound("store") && transport.SpansHosts && !store.IsShared)
            errors.Add(
                "ESB-CFG-STORE",
                endpoint,
                "delivery",
                "several hosts share the lanes, so they must share what is parked: expected a store of type postgres"
            );
    }

    private static void CheckHold(OutboundEndpointConfig endpoint, ConfigErrors errors)
    {
        if (DeliveryHold.FaultOf(endpoint) is { } fault)
            errors.Add("ESB-CFG-ACKTIMEOUT", endpoint, "retry", fault);
    }

    private static void RefuseSecond(string property, OutboundEndpointConfig endpoint, ConfigErrors errors) =>
        errors.Add(
            "ESB-CFG-ORDERING",
            endpoint,
            property,
            "expected 1, because of delivery \"ordered\": two at once would overtake each other"
        );
}
