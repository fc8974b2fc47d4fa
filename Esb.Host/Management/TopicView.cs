using Esb.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Topics;

namespace Esb.Host.Management;

/// <summary>A topic in API responses.</summary>
internal sealed record TopicView(string Name, bool Persistent, IReadOnlyList<SubscriptionView> Subscriptions)
{
    public static IReadOnlyList<TopicView> AllOf(IReadOnlyDictionary<string, TopicConfig> topics, EndpointModels endpoints)
    {
        var subscriptions = endpoints
            .Outbound.Select(model => model.Config)
            .SelectMany(endpoint =>
                endpoint.Subscribe.Select(pattern => (pattern.Topic, View: new SubscriptionView(endpoint.Name, pattern.Value)))
            )
            .ToLookup(subscription => subscription.Topic, subscription => subscription.View);
        return [.. topics.Select(topic => new TopicView(topic.Key, topic.Value.Persistent, [.. subscriptions[topic.Key]]))];
    }
}

/// <summary>A subscription in API responses.</summary>
internal sealed record SubscriptionView(string Endpoint, string Pattern);
