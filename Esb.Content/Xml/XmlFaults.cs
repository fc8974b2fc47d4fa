using System.Text;
using System.Xml;
using Esb.Core.Audit;
using Esb.Core.Errors;

namespace Esb.Content.Xml;

/// <summary>Says what is wrong with a document. Runs only when something is, so it may read the document once more.</summary>
internal static class XmlFaults
{
    private const int LongestText = 300;
    private const int ShortestDocument = 4; // <a/>
    private const string AllowedEncodings = "UTF-8, UTF-16, UTF-32, ISO-8859-1 or US-ASCII";

    // The framework tells its errors apart by their English text alone. A text that is not known here is a syntax error.
    public static EsbException Explain(XmlException error, ReadOnlyMemory<byte> bytes, XmlLimits limits)
    {
        var text = error.Message;
        if (text.StartsWith("For security reasons DTD is prohibited", StringComparison.Ordinal))
            return Fault("ESB-XML-DTD", "The XML is refused: document type declarations are not allowed.", error);
        if (text.StartsWith("Root element is missing", StringComparison.Ordinal))
            return Fault("ESB-XML-EMPTY", "The body is empty; an XML document was expected.", error);
        if (text.Contains("exceeded a limit", StringComparison.Ordinal))
            return Fault("ESB-XML-LIMIT", $"The XML is longer than {limits.Characters} characters.", error, FaultKind.TooLarge);
        if (text.StartsWith("Invalid character in the given encoding", StringComparison.Ordinal))
            return Fault(
                "ESB-XML-ENCODING",
                $"The XML cannot be read{At(error)}: its bytes are not of the encoding that it declares{Offset(bytes.Span)}.",
                error
            );
        if (IsEncodingUnknown(text))
            return Fault("ESB-XML-ENCODING", $"The XML cannot be read: {Cause(text)}; allowed are {AllowedEncodings}.", error);
        if (text.Contains("is an invalid character", StringComparison.Ordinal))
            return Fault("ESB-XML-CHAR", $"The XML is not well-formed{At(error)}: {InvalidCharacter(text)} is not allowed.", error);
        if (IsTruncated(text) || IsBeginning(bytes.Span))
            return Fault("ESB-XML-SYNTAX", $"The XML is not well-formed{At(error)}: it ended {Place(bytes)}.", error);
        return Fault("ESB-XML-SYNTAX", $"The XML is not well-formed{At(error)}: {Cause(text)}.", error);
    }

    private static EsbException Fault(string code, string message, XmlException error, FaultKind kind = FaultKind.Malformed) =>
        new(code, message, kind, error);

    private static bool IsEncodingUnknown(string text) =>
        text.StartsWith("System does not support", StringComparison.Ordinal)
        || text.StartsWith("There is no Unicode byte order mark", StringComparison.Ordinal);

    private static bool IsTruncated(string text) =>
        text.StartsWith("Unexpected end of file", StringComparison.Ordinal)
        || text.StartsWith("There is an unclosed literal string", StringComparison.Ordinal);

    // So few bytes are no XML to the framework, because it finds out the encoding from the first four.
    private static bool IsBeginning(ReadOnlySpan<byte> bytes) => bytes.Length < ShortestDocument && bytes.StartsWith("<"u8);

    private static string At(XmlException error) => error.LineNumber > 0 ? $" at line {error.LineNumber}, column {error.LinePosition}" : "";

    /// <summary>The framework's sentence without its position and full stop.</summary>
    internal static string Cause(string text)
    {
        var end = text.LastIndexOf(" Line ", StringComparison.Ordinal);
        return MaskedFlow.Excerpt((end < 0 ? text : text[..end]).TrimEnd('.'), LongestText);
    }

    // "'.', hexadecimal value 0x00, is an invalid character": the character itself is better not repeated.
    private static string InvalidCharacter(string text)
    {
        var start = text.IndexOf("0x", StringComparison.Ordinal);
        var end = text.IndexOf(',', Math.Max(start, 0));
        return start < 0 || end < 0 ? "a character" : $"the character U+{text[(start + 2)..end].PadLeft(4, '0')}";
    }

    private static string Place(ReadOnlyMemory<byte> bytes) =>
        bytes.IsEmpty ? "too early" // of a stream, what stands before is not known any more
        : InnermostElement(bytes) is { } name ? $"inside element {name}"
        : "before its root element was complete";

    private static string? InnermostElement(ReadOnlyMemory<byte> bytes)
    {
        var open = new Stack<string>();
        using var reader = XmlReader.Create(
            XmlInput.ToStream(bytes),
            new XmlReaderSettings { DtdProcessing = DtdProcessing.Prohibit, XmlResolver = null }
        );
        try
        {
            while (reader.Read())
            {
                if (reader.NodeType == XmlNodeType.Element && !reader.IsEmptyElement)
                    open.Push(reader.Name);
                else if (reader.NodeType == XmlNodeType.EndElement)
                    open.Pop();
            }
        }
        catch (XmlException)
        {
            // What made us look: the elements open at this point are what we came for.
        }

        return open.TryPeek(out var name) ? name : null;
    }

    private static string Offset(ReadOnlySpan<byte> bytes)
    {
        for (var offset = 0; offset < bytes.Length; )
        {
            if (Rune.DecodeFromUtf8(bytes[offset..], out _, out var length) != System.Buffers.OperationStatus.Done)
                return $" (byte offset {offset})";
            offset += length;
        }

        return "";
    }
}
