using Esb.Core.Messages;
using Org.BouncyCastle.Bcpg;
using Org.BouncyCastle.Bcpg.OpenPgp;
using Org.BouncyCastle.Security;

namespace Esb.Content.Codecs.Secure;

/// <summary>Signs and encrypts bodies as OpenPGP messages (RFC 9580), armored. Thread-safe.</summary>
/// <param name="signer">Signs, by SHA-256; null if the body is not signed.</param>
/// <param name="recipients">Keys that can decrypt, by AES-256; none if the body is not encrypted.</param>
internal sealed class PgpEncoder(PgpPrivateKey? signer, IReadOnlyList<PgpPublicKey> recipients) : ISecureEncoder
{
    private const int PacketSize = 1 << 16;

    public EsbMessage Encode(EsbMessage message)
    {
        using var made = new MemoryStream();
        using (var armored = new ArmoredOutputStream(made))
        {
            if (recipients.Count == 0)
            {
                Write(message, armored);
            }
            else
            {
                var generator = new PgpEncryptedDataGenerator(
                    SymmetricKeyAlgorithmTag.Aes256,
                    withIntegrityPacket: true,
                    new SecureRandom()
                );
                foreach (var recipient in recipients)
                    generator.AddMethod(recipient);
                using var encrypted = generator.Open(armored, new byte[PacketSize]);
                Write(message, encrypted);
            }
        }

        var type = recipients.Count == 0 ? "application/pgp" : "application/pgp-encrypted";
        return message with { Body = MessageBody.FromBytes(made.ToArray()), ContentType = type };
    }

    private void Write(EsbMessage message, Stream output)
    {
        var body = message.Body.Bytes.ToArray();
        PgpSignatureGenerator? signature = null;
        if (signer is not null)
        {
            signature = new PgpSignatureGenerator(signer.PublicKeyPacket.Algorithm, HashAlgorithmTag.Sha256);
            signature.InitSign(PgpSignature.BinaryDocument, signer);
            signature.GenerateOnePassVersion(isNested: false).Encode(output);
            signature.Update(body);
        }

        using (
            var literal = new PgpLiteralDataGenerator().Open(output, PgpLiteralData.Binary, "", body.Length, message.CreatedAt.UtcDateTime)
        )
            literal.Write(body);
        signature?.Generate().Encode(output);
    }
}
