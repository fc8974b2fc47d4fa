using System.Xml;
using System.Xml.XPath;
using BenchmarkDotNet.Attributes;
using Esb.Core.Expressions;

namespace Esb.Benchmarks;

/// <summary>A route by an XPath.</summary>
public class XPathRoutingBenchmark() : RoutingBenchmark(new ConditionConfig { Xpath = "//order[1]/symbol = 'IBM'" }, SomeOrders.Xml)
{
    private static readonly XmlReaderSettings Settings = new() { DtdProcessing = DtdProcessing.Prohibit, XmlResolver = null };
    private static readonly XPathExpression Expression = XPathExpression.Compile("//order[1]/symbol = 'IBM'");

    [Benchmark(Baseline = true)]
    public bool ReaderUntilTheSymbol()
    {
        using var reader = XmlReader.Create(new MemoryStream(Bytes), Settings);
        reader.ReadToFollowing("symbol");
        return reader.ReadElementContentAsString() == "IBM";
    }

    [Benchmark]
    public object Tree() => new XPathDocument(XmlReader.Create(new MemoryStream(Bytes), Settings)).CreateNavigator().Evaluate(Expression);
}
