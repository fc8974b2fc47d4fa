using System.Security;
using System.Text;
using System.Xml;

namespace Esb.Content.Xml;

/// <summary>Namespace declarations of an element, or of elements inside one another. Used by one thread.</summary>
public sealed class NamespaceScope
{
    private const string Declarations = "http://www.w3.org/2000/xmlns/";

    private readonly List<KeyValuePair<string, string>> _declared;

    /// <summary>No declarations.</summary>
    public NamespaceScope() => _declared = [];

    private NamespaceScope(IEnumerable<KeyValuePair<string, string>> declared) => _declared = [.. declared];

    /// <summary>The declarations of the element at which a reader stands.</summary>
    public static NamespaceScope At(XmlReader reader)
    {
        var scope = new NamespaceScope();
        scope.Add(reader);
        return scope;
    }

    /// <summary>These declarations, and those of the element inside at which a reader stands.</summary>
    public NamespaceScope With(XmlReader reader)
    {
        var scope = new NamespaceScope(_declared);
        scope.Add(reader);
        return scope;
    }

    /// <summary>Writes the declarations that an element needs to stand alone.</summary>
    /// <remarks>A prefix may also stand in texts, such as values of xsi:type, so any place with the prefix and a colon counts as its
    /// use.</remarks>
    internal string MissingIn(ReadOnlySpan<byte> element, NamespaceScope own)
    {
        StringBuilder? missing = null;
        foreach (var (prefix, uri) in _declared)
        {
            if (uri.Length == 0 || own.Declares(prefix) || !IsUsed(prefix, element))
                continue;
            missing ??= new StringBuilder();
            missing
                .Append(prefix.Length == 0 ? " xmlns" : " xmlns:")
                .Append(prefix)
                .Append("=\"")
                .Append(SecurityElement.Escape(uri))
                .Append('"');
        }

        return missing?.ToString() ?? "";
    }

    private static bool IsUsed(string prefix, ReadOnlySpan<byte> element)
    {
        if (prefix.Length == 0 || element.IndexOf("&#"u8) >= 0)
            return true; // a colon may be written as a reference
        return element.IndexOf(Encoding.UTF8.GetBytes($"{prefix}:")) >= 0;
    }

    private bool Declares(string prefix) => _declared.Exists(declared => declared.Key == prefix);

    private void Add(XmlReader reader)
    {
        if (!reader.MoveToFirstAttribute())
            return;
        do
        {
            if (reader.NamespaceURI != Declarations)
                continue;
            var prefix = reader.Prefix.Length == 0 ? "" : reader.LocalName;
            _declared.RemoveAll(declared => declared.Key == prefix);
            _declared.Add(new(prefix, reader.Value));
        } while (reader.MoveToNextAttribute());
        reader.MoveToElement();
    }
}
