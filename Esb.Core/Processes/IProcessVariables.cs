using Esb.Core.Messages;
using Esb.Core.Topics;

namespace Esb.Core.Processes;

/// <summary>The variables of a workflow's instance, as its steps see them. Used by one step at a time; not thread-safe.</summary>
public interface IProcessVariables
{
    /// <summary>A variable: a text, number, flag, or <see cref="EsbMessage"/>, or a list of messages; null if it is not set.</summary>
    object? Find(string name);

    /// <summary>Sets a variable; null removes it.</summary>
    void Set(string name, object? value);
}

/// <summary>Takes the messages that steps publish, to publish them with a later commit. Used by one step at a time.</summary>
public interface IMessageOutbox
{
    /// <summary>Adds a message.</summary>
    void Publish(OutgoingMessage message);
}
