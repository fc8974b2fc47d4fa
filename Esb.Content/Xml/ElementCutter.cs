using System.Buffers;
using System.Text;
using System.Xml;

namespace Esb.Content.Xml;

/// <summary>Cuts elements out of the bytes of a document in UTF-8, as they are written, while a reader passes over it. Used by one
/// thread.</summary>
/// <remarks>The places that it is asked for only grow. A copy by a writer would cost another pass, and would change what was
/// signed.</remarks>
/// <param name="document">The document; <see cref="IsUtf8"/>.</param>
public sealed class ElementCutter(ReadOnlyMemory<byte> document)
{
    private static readonly SearchValues<byte> LineEnds = SearchValues.Create("\r\n"u8);
    private static readonly SearchValues<byte> TagMarks = SearchValues.Create(">'\""u8);
    private static readonly SearchValues<byte> NameEnds = SearchValues.Create(" \t\r\n/>"u8);

    private readonly bool _isAscii = Ascii.IsValid(document.Span);
    private int _lineStart = document.Span.StartsWith(Encoding.UTF8.Preamble) ? Encoding.UTF8.Preamble.Length : 0;
    private int _line = 1;

    /// <summary>True if elements can be cut out of the bytes of a document. Another document is written anew first
    /// (<see cref="XmlInput.ToUtf8"/>).</summary>
    public static bool IsUtf8(ReadOnlySpan<byte> document)
    {
        if (document[..Math.Min(4, document.Length)].Contains((byte)0))
            return false; // UTF-16 or UTF-32
        if (document.StartsWith(Encoding.UTF8.Preamble))
            document = document[Encoding.UTF8.Preamble.Length..];
        if (document.Length > 0 && document[0] >= 0xFE)
            return false; // a mark of UTF-16
        if (!document.StartsWith("<?xml"u8))
            return true;
        var end = document.IndexOf("?>"u8);
        var declaration = Encoding.Latin1.GetString(document[..(end < 0 ? document.Length : end)]);
        var place = declaration.IndexOf("encoding", StringComparison.Ordinal);
        if (place < 0)
            return true;
        var name = declaration[(place + "encoding".Length)..].TrimStart(' ', '\t', '\r', '\n', '=').TrimStart('"', '\'');
        return name.StartsWith("utf-8", StringComparison.OrdinalIgnoreCase)
            || name.StartsWith("us-ascii", StringComparison.OrdinalIgnoreCase);
    }

    /// <summary>The place of the name of the element, or of the end tag, at which a reader stands.</summary>
    public int Locate(XmlReader reader)
    {
        var place = (IXmlLineInfo)reader;
        var bytes = document.Span;
        while (_line < place.LineNumber)
        {
            var end = _lineStart + bytes[_lineStart..].IndexOfAny(LineEnds);
            _lineStart = bytes[end] == '\r' && end + 1 < bytes.Length && bytes[end + 1] == '\n' ? end + 2 : end + 1;
            _line++;
        }

        return _isAscii ? _lineStart + place.LinePosition - 1 : OffsetOf(place.LinePosition - 1);
    }

    /// <summary>The place behind the tag whose name is at a place.</summary>
    public int EndOfTag(int name)
    {
        var bytes = document.Span;
        while (true)
        {
            name += bytes[name..].IndexOfAny(TagMarks);
            if (bytes[name] == '>')
                return name + 1;
            name += bytes[(name + 1)..].IndexOf(bytes[name]) + 2; // behind the quoted value
        }
    }

    /// <summary>Passes over an element.</summary>
    /// <param name="reader">Stands at the element; afterwards at its end tag, or still at it if it is empty.</param>
    /// <param name="name">The place of its name.</param>
    /// <returns>The place behind it.</returns>
    public int Pass(XmlReader reader, int name)
    {
        if (reader.IsEmptyElement)
            return EndOfTag(name);
        var depth = reader.Depth;
        while (reader.Read())
        {
            if (reader.NodeType == XmlNodeType.EndElement && reader.Depth == depth)
                return EndOfTag(Locate(reader));
        }

        throw new InvalidOperationException("The reader ended inside an element.");
    }

    /// <summary>Cuts out an element as a document of its own.</summary>
    /// <param name="name">The place of its name.</param>
    /// <param name="end">The place behind it.</param>
    /// <param name="around">The namespaces in scope around it.</param>
    /// <param name="own">The prefixes that it declares itself.</param>
    public ReadOnlyMemory<byte> Cut(int name, int end, NamespaceScope around, NamespaceScope own)
    {
        var element = document[(name - 1)..end];
        var missing = around.MissingIn(element.Span, own);
        if (missing.Length == 0)
            return element;

        var nameLength = document.Span[name..].IndexOfAny(NameEnds);
        var declarations = Encoding.UTF8.GetBytes(missing);
        var whole = new byte[element.Length + declarations.Length];
        element.Span[..(1 + nameLength)].CopyTo(whole);
        declarations.CopyTo(whole, 1 + nameLength);
        element.Span[(1 + nameLength)..].CopyTo(whole.AsSpan(1 + nameLength + declarations.Length));
        return whole;
    }

    // The reader counts UTF-16 units.
    private int OffsetOf(int units)
    {
        var bytes = document.Span;
        var offset = _lineStart;
        while (units > 0)
        {
            var length = bytes[offset] switch
            {
                < 0x80 => 1,
                < 0xE0 => 2,
                < 0xF0 => 3,
                _ => 4,
            };
            units -= length == 4 ? 2 : 1;
            offset += length;
        }

        return offset;
    }
}
