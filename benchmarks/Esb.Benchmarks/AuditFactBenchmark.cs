using System.Text.Json;
using BenchmarkDotNet.Attributes;
using Esb.Core.Audit;
using Esb.Storage.Files;

namespace Esb.Benchmarks;

/// <summary>What an audit fact costs until its bytes can be written, beside plain JSON of the same values, and until it is read
/// again.</summary>
[MemoryDiagnoser]
public class AuditFactBenchmark
{
    private readonly AuditFact _fact = new()
    {
        Id = Guid.CreateVersion7(),
        Kind = AuditKind.Published,
        Time = TimeProvider.System.GetUtcNow(),
        MessageId = Guid.CreateVersion7(),
        ConversationId = Guid.CreateVersion7(),
        Endpoint = "shop",
        Process = "receive-order",
        Subject = "orders.accepted",
        Attempt = 1,
        Fields = new Dictionary<string, string> { ["order"] = "A-1001", ["total"] = "24.90" },
    };

    private IReadOnlyList<AuditFact> _one = [];
    private byte[] _written = [];

    [GlobalSetup]
    public void WriteOnce()
    {
        _one = [_fact];
        var buffer = FactBuffer.Take();
        FactForm.Write(_one, buffer);
        _written = buffer.Bytes.ToArray();
        buffer.Return();
    }

    [Benchmark(Baseline = true)]
    public byte[] PlainJson() => JsonSerializer.SerializeToUtf8Bytes(_fact);

    [Benchmark]
    public byte[] StoredJson() => StoredFact.Write(_fact);

    [Benchmark]
    public int Write()
    {
        var buffer = FactBuffer.Take();
        FactForm.Write(_one, buffer);
        buffer.Return();
        return buffer.Length;
    }

    [Benchmark]
    public IReadOnlyList<AuditFact> Read() => StoredFact.Read(_written);
}
