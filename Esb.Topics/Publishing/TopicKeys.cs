using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Expressions;
using Esb.Core.Processes;
using Esb.Core.Topics;

namespace Esb.Topics.Publishing;

/// <inheritdoc cref="ITopicKeys"/>
/// <remarks>Compiled once: a compilation adds to what is asked of every document, which nobody may do while messages run.</remarks>
internal sealed class TopicKeys : ITopicKeys, IConfigurationCheck
{
    private readonly ConfigErrors _errors = new();
    private readonly Dictionary<string, IMessageValue> _keys = [];

    public TopicKeys(EsbConfiguration configuration, IExpressionCompiler expressions)
    {
        foreach (var (name, topic) in configuration.Named<TopicConfig>("topics"))
        {
            if (topic.Key is not null && expressions.Compile(topic.Key, _errors) is { } key) _keys[name] = key;
        }
    }

    public void Check(ConfigErrors errors)
    {
        errors.AddAll(_errors);
    }

    /// <inheritdoc/>
    public string? KeyOf(Subject subject, MessageContext context) =>
        _keys.TryGetValue(subject.Topic, out var key) ? MessageValues.AsText(key.Evaluate(context)) : context.Message.Key;
}
