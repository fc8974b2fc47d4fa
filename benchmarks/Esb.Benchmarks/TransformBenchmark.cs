using System.Text;
using System.Xml;
using System.Xml.XPath;
using System.Xml.Xsl;
using BenchmarkDotNet.Attributes;
using Esb.Content.Transforms;
using Esb.Core.Messages;

namespace Esb.Benchmarks;

/// <summary>What a map costs beside the bare engine of the platform: one that only renames, which is streamed, and one that picks values,
/// which is not.</summary>
[MemoryDiagnoser]
public class TransformBenchmark
{
    private static readonly XmlReaderSettings Plain = new() { DtdProcessing = DtdProcessing.Prohibit, XmlResolver = null };

    private readonly XslCompiledTransform _engine = new();
    private IMessageMap _map = null!;
    private XmlWriterSettings _output = null!;
    private byte[] _document = null!;

    [Params("renames", "picks")]
    public string Map { get; set; } = "";

    [Params(1_024, 10_240, 102_400)]
    public int Bytes { get; set; }

    [GlobalSetup]
    public void Prepare()
    {
        var file = Path.Combine(AppContext.BaseDirectory, "maps", $"{Map}.xsl");
        using (var reader = XmlReader.Create(File.OpenRead(file), Plain))
            _engine.Load(reader);
        _output = _engine.OutputSettings!.Clone();
        _output.Encoding = new UTF8Encoding(encoderShouldEmitUTF8Identifier: false);
        _map = MapFile.Open(file, TimeProvider.System);
        _document = SomeOrders.Xml(Bytes);
        if (!Ours().Body.Bytes.Span.SequenceEqual(Engine()))
            throw new InvalidOperationException("The outputs differ.");
    }

    [Benchmark(Baseline = true)]
    public byte[] Engine()
    {
        using var reader = XmlReader.Create(new MemoryStream(_document), Plain);
        using var output = new MemoryStream(_document.Length);
        using (var writer = XmlWriter.Create(output, _output))
            _engine.Transform(new XPathDocument(reader, XmlSpace.Preserve), null, writer);
        return output.ToArray();
    }

    [Benchmark]
    public MappedBody Ours() => _map.Transform(MessageBody.FromBytes(_document));
}
