using BenchmarkDotNet.Attributes;
using Esb.Core.Messages;

namespace Esb.Benchmarks;

/// <summary>What a changed header costs: the body is shared, so its size must not matter.</summary>
[MemoryDiagnoser]
public class MessageCopyBenchmark
{
    private EsbMessage _message = null!;

    [Params(1_024, 102_400)]
    public int BodyBytes { get; set; }

    [GlobalSetup]
    public void CreateMessage() =>
        _message = EsbMessage.Create(MessageBody.FromBytes(new byte[BodyBytes]), TimeProvider.System) with
        {
            Headers = MessageHeaders.Empty.With("x-order", "A-1001").With("x-shop", "north"),
        };

    [Benchmark(Baseline = true)]
    public EsbMessage Copy() => _message with { Attempt = 1 };

    [Benchmark]
    public EsbMessage CopyWithHeader() => _message with { Headers = _message.Headers.With("x-size", "large") };
}
