using Esb.Core.Expressions;
using Esb.Core.Storage;
using Esb.Core.Topics;

namespace Esb.Workflows.Processes.Checks;

/// <summary>Tells whether bodies that are not in memory can be published. Immutable.</summary>
/// <param name="topics">The topics.</param>
/// <param name="transport">The transport.</param>
/// <param name="store">The store.</param>
internal sealed class StreamedTopics(
    IReadOnlyDictionary<string, TopicConfig> topics,
    TransportConfig? transport = null,
    StoreConfig? store = null
)
{
    /// <summary>Returns why a body cannot be published as a stream; null if it can.</summary>
    public string? ObstacleOf(Subject subject)
    {
        if (transport is not { SpansHosts: true })
            return "bodies are published as streams over RabbitMQ only";
        if (store is not { KeepsStreams: true })
            return "bodies that are published as streams are kept in store.claims, a folder that all hosts reach, and are not encrypted";
        return topics.GetValueOrDefault(subject.Topic) switch
        {
            { ClaimCheck: false } => $"the bodies of topic {subject.Topic} travel whole (claimCheck)",
            { Schema: not null } => $"the schema of topic {subject.Topic} reads the body",
            { Key: { } key } when BodyReads.InValue(key) => $"the key of topic {subject.Topic} reads the body",
            _ => null,
        };
    }
}
