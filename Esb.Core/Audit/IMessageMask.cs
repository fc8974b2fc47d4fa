using Esb.Core.Messages;

namespace Esb.Core.Audit;

/// <summary>Masks content as configured (<c>audit.masks</c>), before any of a message is recorded or logged. Thread-safe.</summary>
public interface IMessageMask
{
    /// <summary>True if nothing is ever masked.</summary>
    bool IsEmpty { get; }

    /// <summary>Returns the message as it may be recorded. Never throws: unreadable content is withheld.</summary>
    MaskedMessage Apply(EsbMessage message);
}
