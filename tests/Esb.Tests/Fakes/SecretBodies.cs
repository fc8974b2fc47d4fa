using Esb.Core.Audit;
using Esb.Core.Messages;

namespace Esb.Tests.Fakes;

/// <summary>Takes the whole body of each message for a secret.</summary>
internal sealed class SecretBodies : IMessageMask
{
    public bool IsEmpty => false;

    public MaskedMessage Apply(EsbMessage message) =>
        new(message, AuditBodyState.Masked, MaskedSecrets.From(new Dictionary<string, string> { [message.Body.ReadText()] = "****" }));
}
