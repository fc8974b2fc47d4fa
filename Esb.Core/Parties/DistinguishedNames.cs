using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Esb.Core.Parties;

/// <summary>Compares distinguished names regardless of spacing.</summary>
public static class DistinguishedNames
{
    /// <summary>True if a text is a distinguished name.</summary>
    public static bool IsName(string text)
    {
        try
        {
            return new X500DistinguishedName(text).EnumerateRelativeDistinguishedNames().Any();
        }
        catch (CryptographicException)
        {
            return false;
        }
    }

    /// <summary>Normalises a name, so that equal names are equal texts.</summary>
    /// <exception cref="CryptographicException">The text is not a distinguished name.</exception>
    public static string Normalize(string text) => Normalize(new X500DistinguishedName(text));

    /// <inheritdoc cref="Normalize(string)"/>
    public static string Normalize(X500DistinguishedName name) => name.Decode(X500DistinguishedNameFlags.UseCommas);
}
