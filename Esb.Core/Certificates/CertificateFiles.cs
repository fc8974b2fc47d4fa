using System.Globalization;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Esb.Core.Storage;

namespace Esb.Core.Certificates;

/// <summary>Reads certificates from files, and reports in plain words why one cannot be used. Thread-safe.</summary>
public static class CertificateFiles
{
    /// <summary>The certificates of authorities in a PEM file.</summary>
    /// <exception cref="CertificateException">The file holds no certificate, or a certificate that is not valid now.</exception>
    public static X509Certificate2Collection LoadAuthorities(string path, DateTimeOffset now)
    {
        var authorities = new X509Certificate2Collection();
        var pem = ReadText(path);
        try
        {
            authorities.ImportFromPem(pem);
        }
        catch (CryptographicException)
        {
            throw new CertificateException("holds a certificate that cannot be read");
        }

        if (authorities.Count == 0)
            throw new CertificateException("holds no certificate in PEM");
        foreach (var authority in authorities)
            RequireValid(authority, now);
        return authorities;
    }

    /// <summary>A certificate with its private key.</summary>
    /// <param name="path">PEM, or PKCS #12.</param>
    /// <param name="keyPath">The key in PEM; null if it is in the same file.</param>
    /// <param name="passphrase">Decrypts the key; null if it is not encrypted.</param>
    /// <param name="now">Time at which it must be valid.</param>
    /// <exception cref="CertificateException">The certificate cannot be used; the message gives the reason.</exception>
    public static X509Certificate2 LoadWithKey(string path, string? keyPath, string? passphrase, DateTimeOffset now)
    {
        var content = ReadBytes(path);
        var certificate = IsPem(content)
            ? LoadPem(ReadText(path), keyPath is null ? null : ReadText(keyPath), passphrase)
            : LoadPkcs12(content, passphrase);
        if (passphrase is null && OwnerFile.FaultOf(keyPath ?? path) is { } fault)
            throw new CertificateException($"has a key that {fault}");
        RequireValid(certificate, now);
        return certificate;
    }

    /// <summary>Certificates beside the first of a file: intermediate authorities below the one that clients know, which a server presents
    /// too.</summary>
    /// <param name="path">PEM, or PKCS #12, already read by <see cref="LoadWithKey"/>.</param>
    /// <param name="passphrase">Decrypts the key; null if it is not encrypted.</param>
    /// <param name="leaf">The certificate itself.</param>
    /// <exception cref="CertificateException">The file has changed in the meantime, and cannot be read.</exception>
    public static X509Certificate2Collection LoadIntermediates(string path, string? passphrase, X509Certificate2 leaf)
    {
        var content = ReadBytes(path);
        var all = new X509Certificate2Collection();
        try
        {
            if (IsPem(content))
                all.ImportFromPem(ReadText(path));
            else
                all = X509CertificateLoader.LoadPkcs12Collection(content, passphrase);
        }
        catch (CryptographicException)
        {
            throw new CertificateException("holds a certificate that cannot be read");
        }

        return [.. all.Where(certificate => certificate.Thumbprint != leaf.Thumbprint)];
    }

    /// <summary>A certificate with its private key, both in PEM.</summary>
    /// <param name="pem">The text.</param>
    /// <param name="passphrase">Decrypts the key; null if it is not encrypted.</param>
    /// <param name="validAt">Time at which it must be valid; null if that does not matter, as for a key that decrypts what is old.</param>
    /// <exception cref="CertificateException">The certificate cannot be used; the message gives the reason.</exception>
    public static X509Certificate2 FromPem(string pem, string? passphrase, DateTimeOffset? validAt)
    {
        var certificate = LoadPem(pem, separateKey: null, passphrase);
        if (validAt is { } now)
            RequireValid(certificate, now);
        return certificate;
    }

    private static X509Certificate2 LoadPkcs12(byte[] content, string? passphrase)
    {
        X509Certificate2 certificate;
        try
        {
            certificate = X509CertificateLoader.LoadPkcs12(content, passphrase);
        }
        catch (CryptographicException)
        {
            throw new CertificateException("cannot be opened: the passphrase is wrong, or it is neither PEM nor PKCS #12");
        }

        return certificate.HasPrivateKey ? certificate : throw NoKey();
    }

    private static X509Certificate2 LoadPem(string pem, string? separateKey, string? passphrase)
    {
        X509Certificate2 certificate;
        try
        {
            certificate = X509Certificate2.CreateFromPem(pem);
        }
        catch (CryptographicException)
        {
            throw new CertificateException("holds no certificate that can be read");
        }

        var key = separateKey ?? pem;
        if (!key.Contains("PRIVATE KEY-----", StringComparison.Ordinal))
            throw NoKey();
        var isEncrypted = key.Contains("ENCRYPTED PRIVATE KEY-----", StringComparison.Ordinal);
        try
        {
            using var withKey = isEncrypted
                ? X509Certificate2.CreateFromEncryptedPem(pem, key, passphrase ?? "")
                : X509Certificate2.CreateFromPem(pem, key);
            // a key of its own, which every platform takes
            return X509CertificateLoader.LoadPkcs12(withKey.Export(X509ContentType.Pkcs12), password: null);
        }
        catch (ArgumentException)
        {
            throw WrongKey();
        }
        catch (CryptographicException) when (isEncrypted && !IsOpenedBy(passphrase, key))
        {
            throw new CertificateException("has a key that cannot be opened: the passphrase is wrong");
        }
        catch (CryptographicException)
        {
            throw WrongKey();
        }
    }

    private static bool IsOpenedBy(string? passphrase, string key)
    {
        using var rsa = RSA.Create();
        using var ecdsa = ECDsa.Create();
        return new AsymmetricAlgorithm[] { rsa, ecdsa }.Any(algorithm =>
        {
            try
            {
                algorithm.ImportFromEncryptedPem(key, passphrase ?? "");
                return true;
            }
            catch (CryptographicException)
            {
                return false;
            }
        });
    }

    private static bool IsPem(byte[] content) => content.AsSpan().IndexOf("-----BEGIN "u8) >= 0;

    private static void RequireValid(X509Certificate2 certificate, DateTimeOffset now)
    {
        if (now > certificate.NotAfter)
            throw new CertificateException($"expired on {Date(certificate.NotAfter)}");
        if (now < certificate.NotBefore)
            throw new CertificateException($"is not valid before {Date(certificate.NotBefore)}");
    }

    /// <summary>A date of a certificate, in UTC.</summary>
    public static string Date(DateTime time) => time.ToUniversalTime().ToString("yyyy-MM-dd HH:mm:ss'Z'", CultureInfo.InvariantCulture);

    private static string ReadText(string path) => System.Text.Encoding.UTF8.GetString(ReadBytes(path));

    private static byte[] ReadBytes(string path)
    {
        try
        {
            return File.ReadAllBytes(path);
        }
        catch (Exception ex) when (ex is FileNotFoundException or DirectoryNotFoundException)
        {
            throw new CertificateException("does not exist");
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            throw new CertificateException("cannot be read");
        }
    }

    private static CertificateException NoKey() => new("has no private key");

    private static CertificateException WrongKey() => new("does not belong to its key");
}
