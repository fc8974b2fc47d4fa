using Esb.Core.Certificates;
using Org.BouncyCastle.Bcpg.OpenPgp;

namespace Esb.Content.Codecs.Secure;

/// <summary>Reads public keys of OpenPGP (RFC 9580).</summary>
internal static class PgpKeys
{
    /// <summary>The public keys of a file, armored or binary.</summary>
    /// <exception cref="CertificateException">It holds no public key.</exception>
    public static PgpPublicKeyRingBundle Public(string path)
    {
        try
        {
            using var stream = PgpUtilities.GetDecoderStream(new MemoryStream(File.ReadAllBytes(path)));
            var keys = new PgpPublicKeyRingBundle(stream);
            return keys.GetKeyRings().Any() ? keys : throw new CertificateException("holds no public key of OpenPGP");
        }
        catch (Exception ex) when (ex is IOException or PgpException or UnauthorizedAccessException)
        {
            throw new CertificateException("holds no public key of OpenPGP that can be read");
        }
    }

    /// <summary>The newest key of a recipient for encryption: a subkey, or the key itself.</summary>
    /// <exception cref="CertificateException">There is none.</exception>
    public static PgpPublicKey ForEncryption(PgpPublicKeyRingBundle keys, DateTimeOffset now) =>
        keys.GetKeyRings()
            .SelectMany(ring => ring.GetPublicKeys())
            .Where(key => key.IsEncryptionKey && !key.HasRevocation() && !IsOver(key, now))
            .OrderBy(key => key.IsMasterKey)
            .ThenByDescending(key => key.CreationTime)
            .FirstOrDefault()
        ?? throw new CertificateException("holds no valid key for encryption");

    /// <summary>True if a key is no longer valid.</summary>
    public static bool IsOver(PgpPublicKey key, DateTimeOffset now) =>
        key.GetValidSeconds() is > 0 and var seconds && key.CreationTime.AddSeconds(seconds) < now.UtcDateTime;
}
