using Esb.Core.Processes;

namespace Esb.Core.Topics;

/// <summary>Order keys of topics, derived from messages as configured. Thread-safe.</summary>
public interface ITopicKeys
{
    /// <summary>Returns the key of the context's message in a topic: as derived by the topic, otherwise the key that the message has
    /// already; null for none.</summary>
    /// <exception cref="Errors.EsbException">The key cannot be derived from the message, such as from a body that is not XML.</exception>
    string? KeyOf(Subject subject, MessageContext context);
}
