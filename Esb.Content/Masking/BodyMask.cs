using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Content.Masking;

/// <summary>Masks bodies by their format. If any rule concerns bodies, a body that cannot be read is withheld, because it may contain
/// values to mask. Thread-safe.</summary>
internal sealed class BodyMask(XmlMask xml, JsonMask json, FormMask form)
{
    /// <summary>The body as it may be recorded, computed once for all copies of the message.</summary>
    public MaskedBody Apply(EsbMessage message)
    {
        if (!message.Body.IsBuffered)
            return MaskedBody.Withheld(message.Body); // it has not been read
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
            return masked.Equals(body.Bytes)
                ? new MaskedBody(body, AuditBodyState.Whole, MaskedSecrets.None)
                : new MaskedBody(MessageBody.FromBytes(masked), AuditBodyState.Masked, findings.Secrets);
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
    /// <summary>A body that must not be recorded, not even in part.</summary>
    public static MaskedBody Withheld(MessageBody body) =>
        new(MessageBody.Empty, AuditBodyState.Withheld, body.IsBuffered ? MaskedSecrets.AllOf(body.Bytes) : MaskedSecrets.None);
}
