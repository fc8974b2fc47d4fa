using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Esb.Core.Parties;

/// <summary>Compares distinguished names by what they say, however they are spaced.</summary>
public static class DistinguishedNames
{
    /// <summary>Whether a text is such a name.</summary>
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

    /// <summary>The form in which equal names are equal texts.</summary>
    /// <exception cref="CryptographicException">The text is no such name.</exception>
    public static string Normalize(string text) => Normalize(new X500DistinguishedName(text));

    /// <inheritdoc cref="Normalize(string)"/>
    public static string Normalize(X500DistinguishedName name) => name.Decode(X500DistinguishedNameFlags.UseCommas);
}
