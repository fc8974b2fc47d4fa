using BenchmarkDotNet.Attributes;
using Esb.Core.Messages;

namespace Esb.Benchmarks;

/// <summary>What it costs to let the headers of a request through an allow-list, beside copying all of them unseen.</summary>
[MemoryDiagnoser]
public class HeaderRulesBenchmark
{
    private static readonly KeyValuePair<string, string>[] Headers =
    [
        new("Host", "orders.example"),
        new("User-Agent", "benchmark"),
        new("Accept", "*/*"),
        new("X-Order", "A-1001"),
        new("X-Shop", "north"),
        new("SOAPAction", "buyStocks"),
        new("Esb-Key", "not believed"),
    ];

    private readonly HeaderRules _rules = new(["x-*", "soapaction"]);

    [Benchmark(Baseline = true)]
    public MessageHeaders CopyAll() => MessageHeaders.From(Headers);

    [Benchmark]
    public MessageHeaders Admit() => _rules.Admit(Headers, out _);
}
