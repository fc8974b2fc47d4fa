using Esb.Core.Errors;
using Esb.Core.Messages;
using Org.BouncyCastle.Bcpg.OpenPgp;

namespace Esb.Content.Codecs.Secure;

/// <summary>Decrypts and verifies OpenPGP messages (RFC 9580). Thread-safe.</summary>
/// <param name="keys">Decrypt; null if nothing encrypted is expected.</param>
/// <param name="trusted">Keys of trusted signers; null if no signature is looked at.</param>
/// <param name="demand">How a body has to be secured.</param>
/// <param name="time">The clock.</param>
internal sealed class PgpDecoder(PgpSecretKeys? keys, PgpPublicKeyRingBundle? trusted, SecurityDemand demand, TimeProvider time)
    : ISecureDecoder
{
    public DecodedMessage Decode(EsbMessage message, CodecLimits limits)
    {
        try
        {
            return Open(message, limits);
        }
        catch (Exception ex)
            when (ex is IOException or PgpException or InvalidCastException or ArgumentException or InvalidOperationException)
        {
            throw SecureFaults.Format("it is no sound OpenPGP message", ex);
        }
    }

    private DecodedMessage Open(EsbMessage message, CodecLimits limits)
    {
        using var input = PgpUtilities.GetDecoderStream(new MemoryStream(message.Body.Bytes.ToArray(), writable: false));
        var objects = new PgpObjectFactory(input);
        var next = objects.NextPgpObject();
        PgpPublicKeyEncryptedData? encrypted = null;
        if (next is PgpMarker)
            next = objects.NextPgpObject();
        if (next is PgpEncryptedDataList list)
        {
            encrypted = Find(list, out var key);
            objects = new PgpObjectFactory(encrypted.GetDataStream(key));
            next = objects.NextPgpObject();
        }

        if (encrypted is null && demand != SecurityDemand.Signed)
            throw SecureFaults.Required("it is not encrypted");
        if (next is PgpCompressedData compressed)
        {
            objects = new PgpObjectFactory(compressed.GetDataStream());
            next = objects.NextPgpObject();
        }

        var body = Read(objects, next, message.Body.Bytes.Length, limits);
        if (encrypted is not null && (!encrypted.IsIntegrityProtected() || !encrypted.Verify()))
            throw SecureFaults.Key("it is damaged, or not protected against changes");
        return new DecodedMessage(message with { Body = MessageBody.FromBytes(body), ContentType = null }, [], Party: null);
    }

    private PgpPublicKeyEncryptedData Find(PgpEncryptedDataList list, out PgpPrivateKey key)
    {
        if (keys is null)
            throw SecureFaults.Key("the step has no key");
        foreach (var data in list.GetEncryptedDataObjects().OfType<PgpPublicKeyEncryptedData>())
        {
            if (keys.Open(data.KeyId) is not { } found)
                continue;
            key = found;
            return data;
        }

        throw SecureFaults.Key("it is encrypted for another key");
    }

    private byte[] Read(PgpObjectFactory objects, PgpObject? next, long encodedBytes, CodecLimits limits)
    {
        var announced = next as PgpOnePassSignatureList;
        if (announced is not null)
            next = objects.NextPgpObject();
        if (next is not PgpLiteralData literal)
            throw SecureFaults.Format("it holds no data");
        using var stream = literal.GetInputStream();
        var body = limits.ReadAll(stream, encodedBytes);
        if (announced is null && demand != SecurityDemand.Encrypted)
            throw SecureFaults.Required("it is not signed");
        if (announced is not null && trusted is not null)
            Verify(announced, objects.NextPgpObject() as PgpSignatureList, body);
        return body;
    }

    // One of several signers that is trusted is enough.
    private void Verify(PgpOnePassSignatureList announced, PgpSignatureList? signatures, byte[] body)
    {
        for (var i = 0; i < announced.Count; i++)
        {
            if (trusted!.GetPublicKey(announced[i].KeyId) is not { } key)
                continue;
            if (key.HasRevocation() || PgpKeys.IsOver(key, time.GetUtcNow()))
                throw SecureFaults.Signer("its key is revoked, or over");
            var signature = Enumerable
                .Range(0, signatures?.Count ?? 0)
                .Select(index => signatures![index])
                .FirstOrDefault(one => one.KeyId == key.KeyId);
            if (signature is null)
                throw SecureFaults.Signature("it is cut off");
            announced[i].InitVerify(key);
            announced[i].Update(body);
            if (!announced[i].Verify(signature))
                throw SecureFaults.Signature("the content is not what was signed");
            return;
        }

        throw SecureFaults.Signer("its key is not among those that are trusted");
    }
}
