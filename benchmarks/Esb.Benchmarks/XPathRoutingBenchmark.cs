using System.Xml;
using System.Xml.XPath;
using BenchmarkDotNet.Attributes;
using Esb.Content.Expressions;
using Esb.Content.Xml;
using Esb.Core.Configuration;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Processes;

namespace Esb.Benchmarks;

/// <summary>What a route by an XPath costs, beside the framework's reader that stops at the value, and its tree.</summary>
[MemoryDiagnoser]
public class XPathRoutingBenchmark
{
    private static readonly XmlReaderSettings Settings = new() { DtdProcessing = DtdProcessing.Prohibit, XmlResolver = null };
    private static readonly XPathExpression Expression = XPathExpression.Compile("//order[1]/symbol = 'IBM'");

    private readonly IMessageCondition _condition = new ExpressionCompiler(new Dictionary<string, string>(), new XmlInput(new XmlLimits()), TimeProvider.System)
        .Compile(new ConditionConfig { Xpath = "//order[1]/symbol = 'IBM'" }, new ConfigErrors())!;

    private byte[] _bytes = [];
    private EsbMessage _message = null!;

    [Params(512, 1_024, 10_240, 102_400)]
    public int BodyBytes { get; set; }

    [GlobalSetup]
    public void MakeBody()
    {
        _bytes = SomeOrders.Xml(BodyBytes);
        _message = EsbMessage.Create(MessageBody.Empty, TimeProvider.System);
    }

    [Benchmark(Baseline = true)]
    public bool ReaderUntilTheSymbol()
    {
        using var reader = XmlReader.Create(new MemoryStream(_bytes), Settings);
        reader.ReadToFollowing("symbol");
        return reader.ReadElementContentAsString() == "IBM";
    }

    [Benchmark]
    public object Tree() => new XPathDocument(XmlReader.Create(new MemoryStream(_bytes), Settings)).CreateNavigator().Evaluate(Expression);

    [Benchmark]
    public bool Condition() => _condition.Holds(new MessageContext(_message with { Body = MessageBody.FromBytes(_bytes) }, "in"));
}
