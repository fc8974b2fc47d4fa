using System.Collections.Immutable;
using Esb.Core.Messages;
using Esb.Core.Topics;

namespace Esb.Topics.RabbitMq;

/// <summary>The topics of the revision in service. Thread-safe.</summary>
internal sealed class KnownTopics(IReadOnlyDictionary<string, TopicConfig> first)
{
    private volatile ImmutableDictionary<string, TopicConfig> _topics = first.ToImmutableDictionary();

    public IReadOnlyCollection<string> Names => [.. _topics.Keys];

    /// <summary>Switches to other topics.</summary>
    public void Change(IReadOnlyDictionary<string, TopicConfig> topics) => _topics = topics.ToImmutableDictionary();

    public bool Contains(string topic) => _topics.ContainsKey(topic);

    /// <summary>True if messages of a subject survive a restart of the broker.</summary>
    public bool IsPersistent(string subject) => !_topics.TryGetValue(Subject.TopicOf(subject), out var topic) || topic.Persistent;

    /// <summary>True if the bodies of a topic are always sent inline, because foreign clients read them.</summary>
    public bool TravelWhole(string topic) => _topics.TryGetValue(topic, out var config) && !config.ClaimCheck;
}
