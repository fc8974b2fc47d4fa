using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Topics;

namespace Esb.Delivery.Replay.Audited;

/// <summary>Gives recorded messages the order keys that their topics make of them: the audit holds none. Thread-safe.</summary>
internal sealed class ReplayKeys(Live<ITopicKeys> topics)
{
    /// <summary>The message with its key; without one where its topic has none, or it gives none any more.</summary>
    public EsbMessage WithKey(EsbMessage message)
    {
        try
        {
            return message with { Key = topics.Current.KeyOf(new Subject(message.Subject), new MessageContext(message, endpoint: "")) };
        }
        catch (EsbException)
        {
            return message; // such as a body that is no XML: it was published without a key too
        }
    }
}
