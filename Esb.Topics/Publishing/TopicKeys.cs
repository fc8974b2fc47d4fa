using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Expressions;
using Esb.Core.Processes;
using Esb.Core.Topics;

namespace Esb.Topics.Publishing;

/// <summary>The order keys of topics, compiled once. Thread-safe.</summary>
internal sealed class TopicKeys : IConfigurationCheck
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

    /// <summary>The key of the context's message in a topic: what the topic makes of it, otherwise what the message has already.</summary>
    public string? KeyOf(Subject subject, MessageContext context) =>
        _keys.TryGetValue(subject.Topic, out var key) ? MessageValues.AsText(key.Evaluate(context)) : context.Message.Key;
}
