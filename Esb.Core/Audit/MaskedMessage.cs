using Esb.Core.Messages;

namespace Esb.Core.Audit;

/// <summary>A message as it may be recorded. Immutable.</summary>
/// <param name="Message">The message with its secrets masked; without a body if that is withheld.</param>
/// <param name="State">State of the body: <see cref="AuditBodyState.Whole"/>, <see cref="AuditBodyState.Masked"/> or
/// <see cref="AuditBodyState.Withheld"/>.</param>
/// <param name="Secrets">The masked secrets, wherever they occurred.</param>
public sealed record MaskedMessage(EsbMessage Message, AuditBodyState State, MaskedSecrets Secrets)
{
    /// <summary>A message in which nothing is to be masked.</summary>
    public static MaskedMessage Unmasked(EsbMessage message) => new(message, AuditBodyState.Whole, MaskedSecrets.None);
}
