using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using Esb.Core.Configuration;
using Microsoft.IdentityModel.Tokens;

namespace Esb.Endpoints.Http.Access.Tokens;

/// <summary>Reads the public keys of an issuer: a JSON Web Key Set (RFC 7517, section 5), or keys or certificates in PEM.</summary>
/// <remarks>Only RSA of 2048 bits or more and P-256 are accepted. Symmetric keys are not: a token signed with a public key as its shared
/// secret must not verify.</remarks>
internal static class TokenKeys
{
    private const int MinRsaBits = 2048;

    /// <exception cref="FileFaultException">The file cannot be read, has no key, or has a key that is not accepted.</exception>
    public static IReadOnlyList<SecurityKey> Load(string path)
    {
        var text = ReadText(path);
        var keys = text.Contains("-----BEGIN ", StringComparison.Ordinal) ? FromPem(text) : FromKeySet(text);
        if (keys.Count == 0)
            throw new FileFaultException("holds no key that signatures are checked with");
        foreach (var key in keys)
            RequireSound(key);
        return keys;
    }

    private static void RequireSound(SecurityKey key)
    {
        if (key is JsonWebKey { Kty: not ("RSA" or "EC") } or SymmetricSecurityKey)
            throw new FileFaultException("holds a key that is neither RSA nor EC; a shared one stands in \"secret\"");
        var bits = BitsOf(key);
        if (IsRsa(key) ? bits < MinRsaBits : bits != 256)
            throw new FileFaultException($"holds a key of {bits} bits; expected RSA of {MinRsaBits} or more, or P-256");
    }

    // The library decodes a key only when its size is requested.
    private static int BitsOf(SecurityKey key)
    {
        try
        {
            return key.KeySize;
        }
        catch (Exception ex) when (ex is FormatException or ArgumentException or CryptographicException)
        {
            throw Unreadable();
        }
    }

    private static bool IsRsa(SecurityKey key) => key is RsaSecurityKey or JsonWebKey { Kty: "RSA" };

    private static IReadOnlyList<SecurityKey> FromKeySet(string json)
    {
        try
        {
            return [.. JsonWebKeySet.Create(json).Keys.Where(key => key.Use is null or "" or "sig")];
        }
        catch (Exception ex) when (ex is ArgumentException or System.Text.Json.JsonException)
        {
            throw new FileFaultException("is neither a JSON Web Key Set nor PEM");
        }
    }

    private static IReadOnlyList<SecurityKey> FromPem(string text)
    {
        var keys = new List<SecurityKey>();
        for (var rest = text.AsSpan(); PemEncoding.TryFind(rest, out var fields); rest = rest[fields.Location.End..])
            keys.Add(FromPem(rest[fields.Label].ToString(), rest[fields.Location]));
        return keys;
    }

    private static SecurityKey FromPem(string label, ReadOnlySpan<char> pem)
    {
        if (label.Contains("PRIVATE", StringComparison.Ordinal))
            throw new FileFaultException("holds a private key; expected the public one, as only the issuer signs");
        try
        {
            if (label == "CERTIFICATE")
                return FromCertificate(X509Certificate2.CreateFromPem(pem));
            return Import(RSA.Create(), pem) is { } rsa ? new RsaSecurityKey(rsa)
                : Import(ECDsa.Create(), pem) is { } ecdsa ? new ECDsaSecurityKey(ecdsa)
                : throw Unreadable();
        }
        catch (CryptographicException)
        {
            throw Unreadable();
        }
    }

    private static SecurityKey FromCertificate(X509Certificate2 certificate)
    {
        if (certificate.GetRSAPublicKey() is { } rsa)
            return new RsaSecurityKey(rsa);
        return certificate.GetECDsaPublicKey() is { } ecdsa ? new ECDsaSecurityKey(ecdsa) : throw Unreadable();
    }

    private static T? Import<T>(T algorithm, ReadOnlySpan<char> pem)
        where T : AsymmetricAlgorithm
    {
        try
        {
            algorithm.ImportFromPem(pem);
            return algorithm;
        }
        catch (Exception ex) when (ex is CryptographicException or ArgumentException)
        {
            algorithm.Dispose();
            return null; // a key of another kind
        }
    }

    private static string ReadText(string path)
    {
        try
        {
            return File.ReadAllText(path, Encoding.UTF8);
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            throw new FileFaultException(File.Exists(path) ? "cannot be read" : "does not exist");
        }
    }

    private static FileFaultException Unreadable() => new("holds a key that cannot be read");
}
