using System.Collections.Concurrent;
using System.Text;
using Esb.Core.Certificates;
using Org.BouncyCastle.Bcpg.OpenPgp;

namespace Esb.Content.Codecs.Secure;

/// <summary>Secret keys of OpenPGP with the passphrase that opens them. A key is opened once, because deriving it from the passphrase is
/// slow by intent. Thread-safe.</summary>
internal sealed class PgpSecretKeys
{
    private readonly PgpSecretKeyRingBundle _keys;
    private readonly char[] _passphrase;
    private readonly ConcurrentDictionary<long, Lazy<PgpPrivateKey?>> _opened = new();

    private PgpSecretKeys(PgpSecretKeyRingBundle keys, string? passphrase) =>
        (_keys, _passphrase) = (keys, (passphrase ?? "").ToCharArray());

    /// <summary>Reads the keys of an armored text.</summary>
    /// <exception cref="CertificateException">It holds no secret key, or none that the passphrase opens.</exception>
    public static PgpSecretKeys Read(string armored, string? passphrase)
    {
        try
        {
            using var stream = PgpUtilities.GetDecoderStream(new MemoryStream(Encoding.UTF8.GetBytes(armored)));
            var keys = new PgpSecretKeys(new PgpSecretKeyRingBundle(stream), passphrase);
            var first = keys._keys.GetKeyRings().FirstOrDefault() ?? throw new CertificateException("holds no secret key of OpenPGP");
            _ = keys.Open(first.GetSecretKey().KeyId);
            return keys;
        }
        catch (Exception ex) when (ex is IOException or PgpException)
        {
            throw NotOpened();
        }
    }

    /// <summary>The first key that makes signatures.</summary>
    /// <exception cref="CertificateException">No key makes signatures, or the passphrase does not open it.</exception>
    public PgpPrivateKey OpenSigner()
    {
        var signer =
            _keys.GetKeyRings().SelectMany(ring => ring.GetSecretKeys()).FirstOrDefault(key => key.IsSigningKey && !key.IsPrivateKeyEmpty)
            ?? throw new CertificateException("holds no key for signatures");
        try
        {
            return Open(signer.KeyId)!;
        }
        catch (PgpException)
        {
            throw NotOpened();
        }
    }

    /// <summary>Returns an opened key; null if no secret key has this id.</summary>
    /// <exception cref="PgpException">The passphrase does not open it.</exception>
    public PgpPrivateKey? Open(long id)
    {
        if (_keys.GetSecretKey(id) is not { } key)
            return null; // not cached: the id comes from the message
        return _opened.GetOrAdd(id, _ => new Lazy<PgpPrivateKey?>(() => key.ExtractPrivateKeyUtf8(_passphrase))).Value;
    }

    private static CertificateException NotOpened() =>
        new("holds no secret key of OpenPGP that can be opened: it is something else, or the passphrase is wrong");
}
