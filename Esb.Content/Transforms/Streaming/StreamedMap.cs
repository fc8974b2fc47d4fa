using Esb.Content.Xml;

namespace Esb.Content.Transforms.Streaming;

/// <summary>Runs a streamed stylesheet over messages. Thread-safe.</summary>
internal sealed class StreamedMap(StreamedStylesheet stylesheet, XmlInput xml, TransformLimits limits)
{
    /// <summary>What the stylesheet makes of a document; null where the engine must do it.</summary>
    /// <exception cref="Core.Errors.EsbException">The document cannot be read, or the output is too large.</exception>
    public byte[]? TryTransform(ReadOnlyMemory<byte> document)
    {
        using var buffer = new Utf8Buffer((int)Math.Min(document.Length + 256L, limits.OutputBytes), limits.OutputBytes);
        var writer = new MarkupWriter(buffer);
        if (stylesheet.HasDeclaration) writer.Declaration();
        try
        {
            using var reader = xml.Read(document);
            new StreamedRun(stylesheet, reader, new StreamedOutput(writer, stylesheet)).Run();
        }
        catch (NotStreamedException)
        {
            return null;
        }

        return buffer.ToArray();
    }
}
