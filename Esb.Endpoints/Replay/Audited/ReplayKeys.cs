using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Topics;

namespace Esb.Endpoints.Replay.Audited;

/// <summary>Gives recorded messages the order keys that their topics make of them: the audit holds none. Thread-safe.</summary>
internal sealed class ReplayKeys(IReadOnlyDictionary<string, TopicConfig> topics, IExpressionCompiler expressions)
{
    /// <summary>The message with its key; without one where its topic has none, or it gives none any more.</summary>
    public EsbMessage WithKey(EsbMessage message)
    {
        if (!topics.TryGetValue(message.Subject.Split('.')[0], out var topic) || topic.Key is null) return message;
        if (expressions.Compile(topic.Key, new ConfigErrors()) is not { } key) return message;
        try
        {
            return message with { Key = MessageValues.AsText(key.Evaluate(new MessageContext(message, endpoint: ""))) };
        }
        catch (EsbException)
        {
            return message; // such as a body that is no XML: it was published without a key too
        }
    }
}
