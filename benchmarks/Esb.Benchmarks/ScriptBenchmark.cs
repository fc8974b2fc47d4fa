using BenchmarkDotNet.Attributes;
using Esb.Content.Transforms;
using Esb.Core.Messages;

namespace Esb.Benchmarks;

/// <summary>What a map in JavaScript costs beside a streamed stylesheet: both rename the members of the same orders, one in JSON, the other
/// in XML. The goal is five times.</summary>
[MemoryDiagnoser]
public class ScriptBenchmark
{
    private IMessageMap _stylesheet = null!;
    private IMessageMap _script = null!;
    private byte[] _xml = null!;
    private byte[] _json = null!;

    [Params(1_024, 10_240, 102_400)]
    public int Bytes { get; set; }

    [GlobalSetup]
    public void Prepare()
    {
        var maps = Path.Combine(AppContext.BaseDirectory, "maps");
        _stylesheet = MapFile.Open(Path.Combine(maps, "renames.xsl"), TimeProvider.System);
        _script = MapFile.Open(Path.Combine(maps, "renames.js"), TimeProvider.System);
        _xml = SomeOrders.Xml(Bytes);
        _json = SomeOrders.Json(Bytes);
    }

    [Benchmark(Baseline = true)]
    public MappedBody Stylesheet() => _stylesheet.Transform(MessageBody.FromBytes(_xml));

    [Benchmark]
    public MappedBody Script() => _script.Transform(MessageBody.FromBytes(_json));
}
