using System.Text.Json;
using BenchmarkDotNet.Attributes;
using Esb.Content.Expressions;
using Esb.Content.Xml;
using Esb.Core.Configuration;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Processes;

namespace Esb.Benchmarks;

/// <summary>What a route by a JSONPath costs, beside the framework's reader that stops at the value, and its tree.</summary>
[MemoryDiagnoser]
public class JsonPathRoutingBenchmark
{
    private readonly IMessageCondition _condition = new ExpressionCompiler(new Dictionary<string, string>(), new XmlInput(new XmlLimits()), TimeProvider.System)
        .Compile(new ConditionConfig { Jsonpath = "$.orders[0].symbol", EqualTo = new ConfigNode(ConfigKind.Text, "equals", ConfigOrigin.Default) { Text = "IBM" } }, new ConfigErrors())!;

    private byte[] _bytes = [];
    private EsbMessage _message = null!;

    [Params(512, 1_024, 10_240, 102_400)]
    public int BodyBytes { get; set; }

    [GlobalSetup]
    public void MakeBody()
    {
        _bytes = SomeOrders.Json(BodyBytes);
        _message = EsbMessage.Create(MessageBody.Empty, TimeProvider.System);
    }

    [Benchmark(Baseline = true)]
    public bool ReaderUntilTheSymbol()
    {
        var reader = new Utf8JsonReader(_bytes);
        while (reader.Read())
        {
            if (reader.TokenType != JsonTokenType.PropertyName || !reader.ValueTextEquals("symbol"u8)) continue;
            reader.Read();
            return reader.ValueTextEquals("IBM"u8);
        }

        return false;
    }

    [Benchmark]
    public bool Tree()
    {
        using var document = JsonDocument.Parse(_bytes);
        return document.RootElement.GetProperty("orders"u8)[0].GetProperty("symbol"u8).ValueEquals("IBM"u8);
    }

    [Benchmark]
    public bool Condition() => _condition.Holds(new MessageContext(_message with { Body = MessageBody.FromBytes(_bytes) }, "in"));
}
