using Esb.Core.Messages;
using Esb.Core.Topics;

namespace Esb.Content.Schemas;

/// <inheritdoc cref="ITopicSchemas"/>
internal sealed class TopicSchemas(IReadOnlyDictionary<string, TopicConfig> topics, ISchemaCatalog schemas) : ITopicSchemas
{
    private readonly Dictionary<string, IMessageSchema> _schemas = topics
        .Where(topic => topic.Value.Schema is not null)
        .ToDictionary(topic => topic.Key, topic => schemas.Find(topic.Value.Schema!)!);

    /// <inheritdoc/>
    public void Check(Subject subject, EsbMessage message)
    {
        if (_schemas.TryGetValue(subject.Topic, out var schema))
            schema.Validate(message);
    }
}
