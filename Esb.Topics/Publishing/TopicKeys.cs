using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Core.Configuration;
using Esb.Core.Expressions;
using Esb.Core.Processes;
using Esb.Core.Topics;

namespace Esb.Topics.Publishing;

/// <inheritdoc cref="ITopicKeys"/>
internal sealed class TopicKeys(IReadOnlyDictionary<string, IMessageValue> keys) : ITopicKeys
{
    /// <inheritdoc/>
    public string? KeyOf(Subject subject, MessageContext context) =>
        keys.TryGetValue(subject.Topic, out var key) ? MessageValues.AsText(key.Evaluate(context)) : context.Message.Key;
}

/// <summary>Compiles the order keys of the section <c>topics</c>.</summary>
internal sealed class TopicKeyCompiler(
    IReadOnlyDictionary<string, TopicConfig> topics,
    ConfigErrors errors,
    IExpressionCompiler expressions
) : ICompiler<ITopicKeys>
{
    public ITopicKeys Compile()
    {
        var keys = new Dictionary<string, IMessageValue>();
        foreach (var (name, topic) in topics)
        {
            if (topic.Key is not null && expressions.Compile(topic.Key, errors) is { } key)
                keys[name] = key;
        }

        return new TopicKeys(keys);
    }
}
