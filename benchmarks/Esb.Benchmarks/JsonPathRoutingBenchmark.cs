using System.Text.Json;
using BenchmarkDotNet.Attributes;
using Esb.Core.Configuration;
using Esb.Core.Expressions;

namespace Esb.Benchmarks;

/// <summary>A route by a JSONPath.</summary>
public class JsonPathRoutingBenchmark()
    : RoutingBenchmark(
        new ConditionConfig
        {
            Jsonpath = "$.orders[0].symbol",
            EqualTo = new ConfigNode(ConfigKind.Text, "equals", ConfigOrigin.Default) { Text = "IBM" },
        },
        SomeOrders.Json
    )
{
    [Benchmark(Baseline = true)]
    public bool ReaderUntilTheSymbol()
    {
        var reader = new Utf8JsonReader(Bytes);
        while (reader.Read())
        {
            if (reader.TokenType != JsonTokenType.PropertyName || !reader.ValueTextEquals("symbol"u8))
                continue;
            reader.Read();
            return reader.ValueTextEquals("IBM"u8);
        }

        return false;
    }

    [Benchmark]
    public bool Tree()
    {
        using var document = JsonDocument.Parse(Bytes);
        return document.RootElement.GetProperty("orders"u8)[0].GetProperty("symbol"u8).ValueEquals("IBM"u8);
    }
}
