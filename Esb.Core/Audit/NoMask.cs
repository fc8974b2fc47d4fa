using Esb.Core.Messages;

namespace Esb.Core.Audit;

/// <summary>Masks nothing.</summary>
public sealed class NoMask : IMessageMask
{
    /// <summary>The only instance.</summary>
    public static readonly NoMask Instance = new();

    private NoMask() { }

    /// <inheritdoc/>
    public bool IsEmpty => true;

    /// <inheritdoc/>
    public MaskedMessage Apply(EsbMessage message) => MaskedMessage.Unmasked(message);
}
