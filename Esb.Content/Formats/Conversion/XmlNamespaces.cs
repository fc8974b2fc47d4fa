namespace Esb.Content.Formats.Conversion;

/// <summary>Namespaces of XML in its JSON form.</summary>
internal static class XmlNamespaces
{
    /// <summary>The namespace of the attributes that declare namespaces (Namespaces in XML 1.0, section 3).</summary>
    public const string Declarations = "http://www.w3.org/2000/xmlns/";

    /// <summary>Returns the prefix of each namespace URI; of several the first in the order of the alphabet.</summary>
    /// <param name="namespaces">Namespace URIs by prefix.</param>
    public static IReadOnlyDictionary<string, string> PrefixesOf(IReadOnlyDictionary<string, string> namespaces) =>
        namespaces
            .OrderBy(entry => entry.Key, StringComparer.Ordinal)
            .DistinctBy(entry => entry.Value)
            .ToDictionary(entry => entry.Value, entry => entry.Key);
}
