using System.Security.Cryptography;
using System.Security.Cryptography.Pkcs;
using System.Security.Cryptography.X509Certificates;
using System.Security.Cryptography.Xml;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Content.Codecs.Secure;

/// <summary>Decrypts and verifies S/MIME bodies (RFC 8551). Thread-safe.</summary>
/// <param name="key">Decrypts; null if nothing encrypted is expected.</param>
/// <param name="trust">Judges signers; null if no signature is looked at.</param>
/// <param name="demand">How a body has to be secured.</param>
internal sealed class SmimeDecoder(X509Certificate2? key, SignerTrust? trust, SecurityDemand demand) : ISecureDecoder
{
    private const int MaxLayers = 4;
    private const string Data = "1.2.840.113549.1.7.1";
    private const string SignedData = "1.2.840.113549.1.7.2";
    private const string EnvelopedData = "1.2.840.113549.1.7.3";

    // SHA-256, 384, 512
    private static readonly string[] Digests = ["2.16.840.1.101.3.4.2.1", "2.16.840.1.101.3.4.2.2", "2.16.840.1.101.3.4.2.3"];

    public DecodedMessage Decode(EsbMessage message, CodecLimits limits)
    {
        try
        {
            return Open(message, limits);
        }
        catch (Exception ex) when (ex is CryptographicException or FormatException)
        {
            throw SecureFaults.Format("it is no sound S/MIME", ex);
        }
    }

    private DecodedMessage Open(EsbMessage message, CodecLimits limits)
    {
        var (content, type) = (message.Body.Bytes, message.ContentType);
        var (isSigned, isEncrypted, party) = (false, false, (string?)null);
        for (var layer = 0; ; layer++)
        {
            var block = MimeBlock.Of(content, type);
            var isCms = block.Is("application", "pkcs7-mime", "x-pkcs7-mime");
            if (!isCms && !block.Is("multipart", "signed"))
                break;
            if (layer == MaxLayers)
                throw SecureFaults.Format($"it is signed or encrypted more than {MaxLayers} times");
            if (!isCms)
            {
                (content, party) = VerifyDetached(block);
                isSigned = true;
            }
            else
            {
                var cms = block.Decode();
                var kind = ContentInfo.GetContentType(cms.Span).Value;
                if (kind == EnvelopedData)
                    (content, isEncrypted) = (Decrypt(cms), true);
                else if (kind == SignedData)
                    ((content, party), isSigned) = (VerifyWhole(cms), true);
                else
                    throw SecureFaults.Format($"CMS of the type {kind} is not supported");
            }

            type = null;
        }

        if (!isSigned && demand != SecurityDemand.Encrypted)
            throw SecureFaults.Required("it is not signed");
        if (!isEncrypted && demand != SecurityDemand.Signed)
            throw SecureFaults.Required("it is not encrypted");
        return Unwrap(message, content, party, limits);
    }

    // What was signed or encrypted is a MIME entity, as a rule.
    private static DecodedMessage Unwrap(EsbMessage message, ReadOnlyMemory<byte> content, string? party, CodecLimits limits)
    {
        var inner = message with { Body = MessageBody.FromBytes(content), ContentType = null };
        if (!MimeCodec.HasHeaders(content.Span))
            return new DecodedMessage(inner, [], party);
        return MimeCodec.Decode(inner, new Core.Configuration.ByteSize(limits.MaxBytes), limits.MaxEntries) with { Party = party };
    }

    private ReadOnlyMemory<byte> Decrypt(ReadOnlyMemory<byte> cms)
    {
        if (key is null)
            throw SecureFaults.Key("the step has no key");
        var enveloped = new EnvelopedCms();
        enveloped.Decode(cms.Span);
        try
        {
            Decrypt(enveloped, key);
        }
        catch (CryptographicException ex)
        {
            throw SecureFaults.Key("it is encrypted for another key, or damaged", ex);
        }

        return enveloped.ContentInfo.Content;
    }

    // Without the key itself the platform looks through the certificate stores of user and machine, for each message.
    private static void Decrypt(EnvelopedCms enveloped, X509Certificate2 key)
    {
        using var rsa = key.GetRSAPrivateKey();
        if (rsa is not null && enveloped.RecipientInfos.Cast<RecipientInfo>().FirstOrDefault(one => IsFor(one, key)) is { } recipient)
            enveloped.Decrypt(recipient, rsa);
        else
            enveloped.Decrypt([key]);
    }

    private static bool IsFor(RecipientInfo recipient, X509Certificate2 key) =>
        recipient is KeyTransRecipientInfo
        && recipient.RecipientIdentifier.Value is X509IssuerSerial named
        && named.IssuerName == key.Issuer
        && named.SerialNumber == key.SerialNumber;

    private (ReadOnlyMemory<byte> Content, string? Party) VerifyWhole(ReadOnlyMemory<byte> cms)
    {
        var signed = new SignedCms();
        signed.Decode(cms.Span);
        if (signed.ContentInfo.ContentType.Value != Data)
            throw SecureFaults.Format("what is signed is no data");
        return (signed.ContentInfo.Content, PartyOf(signed));
    }

    // The signature is over lines that end with CR LF; files on their way may have lost that (RFC 8551, section 3.1.1).
    private (ReadOnlyMemory<byte> Content, string? Party) VerifyDetached(MimeBlock block)
    {
        var (content, signature) = block.SplitSigned();
        var cms = signature.Decode();
        try
        {
            return (content, PartyOf(Detached(content, cms)));
        }
        catch (EsbException ex) when (ex.Code == "ESB-SECURE-SIGNATURE" && !Canonical(content.Span).AsSpan().SequenceEqual(content.Span))
        {
            var canonical = Canonical(content.Span);
            return (canonical, PartyOf(Detached(canonical, cms)));
        }
    }

    private static SignedCms Detached(ReadOnlyMemory<byte> content, ReadOnlyMemory<byte> cms)
    {
        var signed = new SignedCms(new ContentInfo(content.ToArray()), detached: true);
        signed.Decode(cms.Span);
        return signed;
    }

    private string? PartyOf(SignedCms signed)
    {
        if (signed.SignerInfos.Count == 0)
            throw SecureFaults.Signature("nobody signed");
        string? party = null;
        foreach (var signer in signed.SignerInfos)
        {
            if (!Digests.Contains(signer.DigestAlgorithm.Value))
                throw SecureFaults.Signature("its digest is weaker than SHA-256");
            if (signer.Certificate is not { } certificate)
                throw SecureFaults.Signer("its certificate is not enclosed");
            try
            {
                signer.CheckSignature(verifySignatureOnly: true);
            }
            catch (CryptographicException ex)
            {
                throw SecureFaults.Signature("the content is not what was signed", ex);
            }

            if (trust is null)
                continue; // no trust is configured, so the signer is not identified
            party ??= trust.PartyOf(certificate, signed.Certificates);
        }

        return party;
    }

    private static byte[] Canonical(ReadOnlySpan<byte> text)
    {
        var made = new List<byte>(text.Length + (text.Length / 32));
        for (var i = 0; i < text.Length; i++)
        {
            if (text[i] == '\n' && (i == 0 || text[i - 1] != '\r'))
                made.Add((byte)'\r');
            made.Add(text[i]);
        }

        return [.. made];
    }
}
