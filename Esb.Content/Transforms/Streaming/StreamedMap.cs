using Esb.Content.Expressions;
using Esb.Content.Xml;

namespace Esb.Content.Transforms.Streaming;

/// <summary>Runs a streamed stylesheet over messages. Thread-safe.</summary>
internal sealed class StreamedMap(StreamedStylesheet stylesheet, XmlInput xml, TransformLimits limits, TimeProvider time)
{
    /// <summary>What the stylesheet makes of a document; null where the engine must do it.</summary>
    /// <exception cref="Core.Errors.EsbException">The document cannot be read, the output is too large, or it takes too long
    /// (<see cref="EvaluationTime.Code"/>).</exception>
    public byte[]? TryTransform(ReadOnlyMemory<byte> document)
    {
        using var buffer = new Utf8Buffer((int)Math.Min(document.Length + 256L, limits.OutputBytes), limits.OutputBytes);
        var writer = new MarkupWriter(buffer);
        if (stylesheet.HasDeclaration)
            writer.Declaration();
        try
        {
            using var reader = xml.Read(document);
            new StreamedRun(stylesheet, reader, new StreamedOutput(writer, stylesheet), new EvaluationTime(time, limits.Time)).Run();
        }
        catch (NotStreamedException)
        {
            return null;
        }

        return buffer.ToArray();
    }
}
