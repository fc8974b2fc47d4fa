using Esb.Core.Messages;

namespace Esb.Core.Audit;

/// <summary>A message as it may be recorded. Immutable.</summary>
/// <param name="Message">With what is masked made unreadable; without a body where that is withheld.</param>
/// <param name="State">What became of the body: <see cref="AuditBodyState.Whole"/>, <see cref="AuditBodyState.Masked"/> or <see cref="AuditBodyState.Withheld"/>.</param>
/// <param name="Secrets">What was masked, wherever it stood.</param>
public sealed record MaskedMessage(EsbMessage Message, AuditBodyState State, MaskedSecrets Secrets)
{
    /// <summary>A message in which nothing is to be masked.</summary>
    public static MaskedMessage Unmasked(EsbMessage message) => new(message, AuditBodyState.Whole, MaskedSecrets.None);
}
