using System.Security.Cryptography;
using System.Security.Cryptography.Pkcs;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using Esb.Core.Messages;

namespace Esb.Content.Codecs.Secure;

/// <summary>Signs and encrypts bodies as S/MIME (RFC 8551): signed first, then encrypted. Thread-safe.</summary>
/// <param name="signer">Signs, by SHA-256; null if the body is not signed.</param>
/// <param name="recipients">Those who can decrypt, by AES-256; none if the body is not encrypted.</param>
/// <param name="hasHeaders">True if the MIME headers are part of the body.</param>
internal sealed class SmimeEncoder(X509Certificate2? signer, X509Certificate2Collection recipients, bool hasHeaders) : ISecureEncoder
{
    private const string EncryptedType = "application/pkcs7-mime; smime-type=enveloped-data; name=\"smime.p7m\"";

    private static readonly Oid Sha256 = new("2.16.840.1.101.3.4.2.1");
    private static readonly Oid Aes256 = new("2.16.840.1.101.3.4.1.42");

    public EsbMessage Encode(EsbMessage message)
    {
        var (headers, content) = EntityOf(message);
        var type = "";
        if (signer is not null)
            (type, headers, content) = Sign(message, [.. headers, .. content]);
        if (recipients.Count > 0)
            (type, headers, content) = Encrypt([.. headers, .. content]);
        return message with
        {
            Body = MessageBody.FromBytes(hasHeaders ? [.. "MIME-Version: 1.0\r\n"u8, .. headers, .. content] : content),
            ContentType = type,
        };
    }

    private static (byte[] Headers, byte[] Content) EntityOf(EsbMessage message)
    {
        var type = message.ContentType is { } given && HeaderRules.IsValue(given) ? given : "application/octet-stream";
        return (
            Encoding.UTF8.GetBytes($"Content-Type: {type}\r\nContent-Transfer-Encoding: base64\r\n\r\n"),
            Lines(message.Body.Bytes.Span)
        );
    }

    private (string Type, byte[] Headers, byte[] Content) Sign(EsbMessage message, byte[] entity)
    {
        var signed = new SignedCms(new ContentInfo(entity), detached: true);
        var how = new CmsSigner(SubjectIdentifierType.IssuerAndSerialNumber, signer!)
        {
            DigestAlgorithm = Sha256,
            IncludeOption = X509IncludeOption.EndCertOnly,
        };
        how.SignedAttributes.Add(new Pkcs9SigningTime(message.CreatedAt.UtcDateTime)); // not now: a repetition makes the same bytes
        signed.ComputeSignature(how, silent: true);
        var boundary = $"esb-{message.Id:N}";
        var type = $"multipart/signed; protocol=\"application/pkcs7-signature\"; micalg=sha-256; boundary=\"{boundary}\"";
        byte[] content =
        [
            .. Encoding.ASCII.GetBytes($"--{boundary}\r\n"),
            .. entity,
            .. Encoding.ASCII.GetBytes(
                $"\r\n--{boundary}\r\nContent-Type: application/pkcs7-signature; name=\"smime.p7s\"\r\nContent-Transfer-Encoding: "
                    + $"base64\r\n\r\n"
            ),
            .. Lines(signed.Encode()),
            .. Encoding.ASCII.GetBytes($"\r\n--{boundary}--\r\n"),
        ];
        return (type, Encoding.ASCII.GetBytes($"Content-Type: {type}\r\n\r\n"), content);
    }

    private (string Type, byte[] Headers, byte[] Content) Encrypt(byte[] entity)
    {
        var enveloped = new EnvelopedCms(new ContentInfo(entity), new AlgorithmIdentifier(Aes256));
        enveloped.Encrypt(new CmsRecipientCollection(SubjectIdentifierType.IssuerAndSerialNumber, recipients));
        var cms = enveloped.Encode();
        return hasHeaders
            ? (
                EncryptedType,
                Encoding.ASCII.GetBytes($"Content-Type: {EncryptedType}\r\nContent-Transfer-Encoding: base64\r\n\r\n"),
                Lines(cms)
            )
            : (EncryptedType, [], cms);
    }

    private static byte[] Lines(ReadOnlySpan<byte> bytes) =>
        Encoding.ASCII.GetBytes(Convert.ToBase64String(bytes, Base64FormattingOptions.InsertLineBreaks) + "\r\n");
}
