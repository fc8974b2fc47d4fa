using Esb.Core.Messages;

namespace Esb.Core.Topics;

/// <summary>Schemas of topics. Thread-safe.</summary>
public interface ITopicSchemas
{
    /// <summary>Validates a message, whose body must be buffered, with the schema of its topic; does nothing for a topic without
    /// one.</summary>
    /// <exception cref="Errors.EsbException">The body breaks the schema (422), or cannot be read (400).</exception>
    void Check(Subject subject, EsbMessage message);
}
