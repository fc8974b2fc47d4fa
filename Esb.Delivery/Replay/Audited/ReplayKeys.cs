using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Topics;

namespace Esb.Delivery.Replay.Audited;

/// <summary>Restores the order keys of recorded messages from their topics, because the audit holds none. Thread-safe.</summary>
internal sealed class ReplayKeys(Live<ITopicKeys> topics)
{
    /// <summary>The message with its key; without a key if its topic defines none or yields none any more.</summary>
    public EsbMessage WithKey(EsbMessage message)
    {
        try
        {
            return message with { Key = topics.Current.KeyOf(new Subject(message.Subject), new MessageContext(message, endpoint: "")) };
        }
        catch (EsbException)
        {
            return message; // for example a body that is not XML, which was published without a key too
        }
    }
}
