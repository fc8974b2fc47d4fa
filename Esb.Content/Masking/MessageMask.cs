using Esb.Core.Audit;
using Esb.Core.Messages;

namespace Esb.Content.Masking;

/// <inheritdoc cref="IMessageMask"/>
/// <param name="body">Masks bodies; null where no rule does.</param>
/// <param name="headers">The rules for headers.</param>
/// <param name="values">Masks their values.</param>
internal sealed class MessageMask(BodyMask? body, IReadOnlyList<NameRule> headers, ValueMask values) : IMessageMask
{
    public bool IsEmpty => body is null && headers.Count == 0;

    public MaskedMessage Apply(EsbMessage message)
    {
        var masked = body?.Apply(message) ?? new MaskedBody(message.Body, AuditBodyState.Whole, MaskedSecrets.None);
        var findings = new MaskFindings();
        var kept = Apply(message.Headers, findings);
        // without them it is another message
        var state = masked.State == AuditBodyState.Whole && kept != message.Headers ? AuditBodyState.Masked : masked.State;
        return new MaskedMessage(message with { Body = masked.Body, Headers = kept }, state, masked.Secrets.And(findings.Secrets));
    }

    private MessageHeaders Apply(MessageHeaders all, MaskFindings findings)
    {
        var masked = all;
        if (headers.Count == 0)
            return masked;
        foreach (var (name, value) in all)
        {
            if (NameRule.For(name, headers) is not { } action)
                continue;
            var text = values.Apply(action, value);
            findings.Add(value, text);
            masked = text is null ? masked.Without(name) : masked.With(name, text);
        }

        return masked;
    }
}
