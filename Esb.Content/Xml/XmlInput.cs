using System.Runtime.InteropServices;
using System.Text;
using System.Xml;
using System.Xml.XPath;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Content.Xml;

/// <summary>The single entry point for external XML: no document type declarations, no fetched resources, and limits on everything.
/// Thread-safe.</summary>
/// <remarks>
/// The encoding follows from the bytes (byte order mark, then XML declaration, then UTF-8; XML 1.0, appendix F), never from a content type.
/// Errors are reported as an <see cref="EsbException"/>: <c>ESB-XML-SYNTAX</c>, <c>ESB-XML-EMPTY</c>, <c>ESB-XML-DTD</c>,
/// <c>ESB-XML-ENCODING</c>, <c>ESB-XML-CHAR</c>, <c>ESB-XML-DEPTH</c> or <c>ESB-XML-LIMIT</c>.
/// </remarks>
public sealed class XmlInput
{
    private const int PieceBytes = 1024;

    private static readonly XmlWriterSettings Written = new()
    {
        Encoding = new UTF8Encoding(encoderShouldEmitUTF8Identifier: false),
        OmitXmlDeclaration = true,
        NewLineHandling = NewLineHandling.Entitize,
    };

    private readonly XmlLimits _limits;
    private readonly XmlReaderSettings _settings;
    private readonly XmlReaderSettings _streamed;
    private readonly Func<ReadOnlyMemory<byte>, XPathDocument> _parse;

    /// <summary>An intake with these limits.</summary>
    public XmlInput(XmlLimits limits)
    {
        _limits = limits;
        _settings = new XmlReaderSettings
        {
            DtdProcessing = DtdProcessing.Prohibit,
            XmlResolver = null,
            MaxCharactersInDocument = limits.Characters,
            CloseInput = true,
        };
        _streamed = _settings.Clone();
        _streamed.MaxCharactersInDocument = 0; // the source has a limit
        _streamed.CloseInput = false;
        _parse = Parse;
    }

    /// <summary>The limits.</summary>
    public XmlLimits Limits => _limits;

    /// <summary>Reads a document forward, without building anything of it. The reader has line information.</summary>
    public XmlReader Read(ReadOnlyMemory<byte> bytes) =>
        Read(bytes, isComplete: true, new DocumentStream(bytes, isComplete: true, _limits, bytes.Length));

    /// <summary>Reads a document forward that is not in memory, of any length: the limits of elements hold, that of the document is the
    /// caller's.</summary>
    internal BoundedXmlReader Read(Stream document) =>
        new(XmlReader.Create(new GuardedStream(document, _limits), _streamed), default, isComplete: false, _limits);

    /// <summary>The document in UTF-8, without a declaration: as it is where elements can be cut out of it
    /// (<see cref="ElementCutter.IsUtf8"/>), otherwise written anew.</summary>
    public ReadOnlyMemory<byte> ToUtf8(ReadOnlyMemory<byte> bytes)
    {
        if (ElementCutter.IsUtf8(bytes.Span))
            return bytes;
        using var reader = Read(bytes);
        using var written = new MemoryStream();
        using (var writer = XmlWriter.Create(written, Written))
            writer.WriteNode(reader, defattr: true);
        return written.ToArray();
    }

    /// <summary>The root element of a document in UTF-8, without what stands around it, after a look at the whole document.</summary>
    /// <param name="bytes">The document.</param>
    /// <param name="name">The name of the element.</param>
    public ReadOnlyMemory<byte> RootOf(ReadOnlyMemory<byte> bytes, out XmlQualifiedName name)
    {
        bytes = ToUtf8(bytes);
        using var reader = Read(bytes);
        reader.MoveToContent();
        name = new XmlQualifiedName(reader.LocalName, reader.NamespaceURI);
        var cutter = new ElementCutter(bytes);
        var start = cutter.Locate(reader);
        var end = cutter.Pass(reader, start);
        while (reader.Read()) { }

        return bytes[(start - 1)..end];
    }

    /// <summary>Reads the beginning of a document in small pieces, over a stream that tells how far it was read.</summary>
    internal XmlReader ReadPieces(MessageBody body, out DocumentStream taken) =>
        Read(
            body.BytesSoFar,
            body.IsComplete,
            taken = new DocumentStream(
                body.BytesSoFar,
                body.IsComplete,
                _limits,
                body.IsComplete ? Math.Min(body.BytesSoFar.Length, PieceBytes) : PieceBytes
            )
        );

    /// <summary>The parsed form of a buffered body, made once and shared by all copies of the message; a navigator belongs to its
    /// caller.</summary>
    public XPathNavigator Navigate(MessageBody body) => body.View(_parse).CreateNavigator();

    private XPathDocument Parse(ReadOnlyMemory<byte> bytes)
    {
        using var reader = Read(bytes);
        return new XPathDocument(reader, XmlSpace.Preserve); // XPath 1.0, section 5.7: white space is text too
    }

    private BoundedXmlReader Read(ReadOnlyMemory<byte> bytes, bool isComplete, DocumentStream stream) =>
        new(XmlReader.Create(stream, _settings), bytes, isComplete, _limits);

    internal static Stream ToStream(ReadOnlyMemory<byte> bytes) =>
        MemoryMarshal.TryGetArray(bytes, out var array)
            ? new MemoryStream(array.Array!, array.Offset, array.Count, writable: false)
            : new MemoryStream(bytes.ToArray(), writable: false);
}
