using Esb.Core.Messages;

namespace Esb.Core.Audit;

/// <summary>Makes unreadable what the configuration masks (<c>audit.masks</c>), before anything of a message is recorded or logged. Thread-safe.</summary>
public interface IMessageMask
{
    /// <summary>Whether nothing is ever masked.</summary>
    bool IsEmpty { get; }

    /// <summary>The message as it may be recorded. Never throws: what cannot be read is withheld.</summary>
    MaskedMessage Apply(EsbMessage message);
}
