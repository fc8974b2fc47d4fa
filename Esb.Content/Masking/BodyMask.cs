using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Content.Masking;

/// <summary>Masks bodies by what they are. With any rule for bodies, one that cannot be read is withheld: whatever a rule means may stand in it. Thread-safe.</summary>
internal sealed class BodyMask(XmlMask xml, JsonMask json, FormMask form)
{
    /// <summary>The body as it may be recorded, found out once for all copies of the message.</summary>
    public MaskedBody Apply(EsbMessage message)
    {
        if (!message.Body.IsBuffered) return MaskedBody.Withheld(message.Body); // nobody has read it
        return message.Body.View(bytes => Apply(message.Body, BodyFormats.Of(bytes.Span, message.ContentType)));
    }

    private MaskedBody Apply(MessageBody body, BodyFormat format)
    {
        var findings = new MaskFindings();
        try
        {
            var masked = format switch
            {
                BodyFormat.Xml => xml.Apply(body, findings),
                BodyFormat.Json => json.Apply(body, findings),
                BodyFormat.Form => form.Apply(body, findings),
                _ => body.Bytes,
            };
            return masked.Equals(body.Bytes) ? new MaskedBody(body, AuditBodyState.Whole, MaskedSecrets.None) : new MaskedBody(MessageBody.FromBytes(masked), AuditBodyState.Masked, findings.Secrets);
        }
        catch (Exception ex) when (ex is EsbException or MaskException)
        {
            return MaskedBody.Withheld(body);
        }
    }
}

/// <summary>A body as it may be recorded. Immutable.</summary>
internal sealed record MaskedBody(MessageBody Body, AuditBodyState State, MaskedSecrets Secrets)
{
    /// <summary>Nothing of it may be.</summary>
    public static MaskedBody Withheld(MessageBody body) =>
        new(MessageBody.Empty, AuditBodyState.Withheld, body.IsBuffered ? MaskedSecrets.AllOf(body.Bytes) : MaskedSecrets.None);
}
