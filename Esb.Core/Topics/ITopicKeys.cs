using Esb.Core.Processes;

namespace Esb.Core.Topics;

/// <summary>The order keys of topics, as the configuration makes them of messages. Thread-safe.</summary>
public interface ITopicKeys
{
    /// <summary>The key of the context's message in a topic: what the topic makes of it, otherwise what the message has already; null for none.</summary>
    /// <exception cref="Errors.EsbException">The key cannot be made of the message, such as of a body that is no XML.</exception>
    string? KeyOf(Subject subject, MessageContext context);
}
