using System.Buffers;
using System.Text.RegularExpressions;
using System.Xml;
using Esb.Content.Formats;
using Esb.Content.Xml;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Content.Splitting;

/// <summary>Divides XML that is not in memory into the elements of a plain path, such as <c>/orders/order</c>, with one element in
/// memory at a time. Immutable and thread-safe.</summary>
internal sealed partial class XmlForwardSplitter
{
    private readonly IReadOnlyList<(string? Uri, string? Local)> _path; // null: any
    private readonly XmlInput _xml;

    private XmlForwardSplitter(IReadOnlyList<(string? Uri, string? Local)> path, XmlInput xml) => (_path, _xml) = (path, xml);

    /// <summary>A splitter by a path; null if more of the document than the path to an element decides on it.</summary>
    /// <param name="xpath">A sound XPath.</param>
    /// <param name="prefixes">The namespaces of its prefixes.</param>
    /// <param name="xml">Reads XML.</param>
    public static XmlForwardSplitter? For(string xpath, IReadOnlyDictionary<string, string> prefixes, XmlInput xml) =>
        PlainPath().Match(xpath) is { Success: true } path
            ? new([.. path.Groups["step"].Captures.Select(step => StepOf(step.Value, prefixes))], xml)
            : null;

    /// <summary>The items of a body that can be opened again.</summary>
    /// <exception cref="EsbException">The body is no sound XML from here on, or an element is too large (<c>ESB-XML-LIMIT</c>).</exception>
    public IEnumerable<SplitItem> Split(MessageBody body)
    {
        using var stream = body.OpenRead();
        using var reader = _xml.Read(stream);
        var depth = 0; // elements of the path that are open
        var has = reader.Read();
        while (has)
        {
            if (reader.NodeType != XmlNodeType.Element)
            {
                has = reader.Read();
                continue;
            }

            depth = Math.Min(depth, reader.Depth);
            if (!IsStep(reader, depth))
            {
                reader.Skip(); // to the node behind the element
                has = !reader.EOF;
            }
            else if (depth < _path.Count - 1)
            {
                depth++;
                has = reader.Read();
            }
            else
            {
                var line = reader.LineNumber;
                yield return new SplitItem(MessageBody.FromBytes(Write(reader)), "application/xml") { Line = line };
                has = reader.Read();
            }
        }
    }

    private bool IsStep(BoundedXmlReader reader, int depth)
    {
        var (uri, local) = _path[depth];
        return (uri is null || reader.NamespaceURI == uri) && (local is null || reader.LocalName == local);
    }

    // Prefixes may also stand in texts, such as values of xsi:type, so all that are in scope are declared.
    private byte[] Write(BoundedXmlReader reader)
    {
        var bytes = new BoundedElement(_xml.Limits.Characters, reader.LineNumber);
        using (var writer = XmlWriter.Create(new BufferStream(bytes), XmlSplitter.Settings))
        {
            writer.WriteStartElement(reader.Prefix, reader.LocalName, reader.NamespaceURI);
            foreach (var (prefix, uri) in reader.NamespacesInScope.Where(scope => scope.Key != reader.Prefix))
            {
                if (prefix.Length > 0)
                    writer.WriteAttributeString("xmlns", prefix, XmlSplitter.Declarations, uri);
                else if (reader.Prefix.Length > 0)
                    writer.WriteAttributeString("xmlns", XmlSplitter.Declarations, uri);
            }

            while (reader.MoveToNextAttribute())
            {
                if (reader.NamespaceURI != XmlSplitter.Declarations)
                    writer.WriteAttributeString(reader.Prefix, reader.LocalName, reader.NamespaceURI, reader.Value);
            }

            reader.MoveToElement();
            var depth = reader.Depth;
            if (!reader.IsEmptyElement)
            {
                reader.Read();
                while (reader.Depth > depth)
                    writer.WriteNode(reader, defattr: true);
            }

            writer.WriteEndElement();
        }

        return bytes.Written.ToArray();
    }

    // Unprefixed names are those of no namespace (XPath 1.0, section 2.3).
    private static (string? Uri, string? Local) StepOf(string step, IReadOnlyDictionary<string, string> prefixes) =>
        step.Split(':') switch
        {
            ["*"] => (null, null),
            [var local] => ("", local),
            [var prefix, "*"] => (prefixes[prefix], null),
            [var prefix, var local] => (prefixes[prefix], local),
            _ => throw new InvalidOperationException($"\"{step}\" is no name."),
        };

    [GeneratedRegex(@"^(/(?<step>\*|[\w.-]+(:(\*|[\w.-]+))?))+$", RegexOptions.ExplicitCapture)]
    private static partial Regex PlainPath();

    /// <summary>The bytes of an element, up to a limit.</summary>
    private sealed class BoundedElement(long limit, int line) : IBufferWriter<byte>
    {
        private readonly ArrayBufferWriter<byte> _bytes = new();

        public ReadOnlySpan<byte> Written => _bytes.WrittenSpan;

        public void Advance(int count)
        {
            if (_bytes.WrittenCount + (long)count > limit)
                throw new EsbException("ESB-XML-LIMIT", $"The element at line {line} is longer than {limit} bytes.", FaultKind.TooLarge);
            _bytes.Advance(count);
        }

        public Memory<byte> GetMemory(int sizeHint = 0) => _bytes.GetMemory(sizeHint);

        public Span<byte> GetSpan(int sizeHint = 0) => _bytes.GetSpan(sizeHint);
    }
}
