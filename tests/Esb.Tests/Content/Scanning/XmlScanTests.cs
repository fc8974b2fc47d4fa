using Esb.Content.Xml;
using Esb.Content.Xml.Scanning;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Tests.Content.Scanning;

[TestFixture]
public sealed class XmlScanTests
{
    private PathSet _paths = null!;

    [SetUp]
    public void SetUp() => _paths = new PathSet(new XmlInput(new XmlLimits()));

    [TestCase("/order/type", "gold")]
    [TestCase("//type[1]", "gold")]
    [TestCase("/order/@id", "7")]
    [TestCase("string(/order/type)", "gold")]
    [TestCase("/order/type = 'gold'", true)]
    [TestCase("/order[@id='7']/type", "gold")]
    [TestCase("starts-with(/order/type, 'g') and /order/@id > 6", true)]
    public void Nothing_behind_the_deciding_node_is_read(string xpath, object expected)
    {
        var value = Compile(xpath);

        Assert.That(value(Scan("<order id='7'><type>gold</type><line><broken")), Is.EqualTo(expected));
    }

    [TestCase("/invoice", false, TestName = "A document has one root element, which is known at once")]
    [TestCase("/invoice/type = 'gold' or count(/x/y) > 0", false)]
    [TestCase("/order/type[1] = 'silver'", false, TestName = "The first of its kind has ended")]
    [TestCase("/order/@id = 8 or /order/@missing", false, TestName = "Attributes are known at the end of their tag")]
    [TestCase("/order/type[1]/code", false)]
    [TestCase("/order/type[@x][1]/@x = 'b' or /order/type[1]/@y = 'a'", false)]
    [TestCase("count(/order/type[1]/text()) = 1", true)]
    public void What_can_come_once_only_is_decided_when_it_has_come(string xpath, bool expected)
    {
        var holds = new ScanCompiler(_paths, new Dictionary<string, string>()).CompileTruth(xpath)!;

        Assert.That(holds(Scan("<order id='7'><type x='a'>gold</type><line><broken")), Is.EqualTo(expected));
    }

    [TestCase("count(//type)")]
    [TestCase("/order/type = 'silver'")]
    [TestCase("/order/line/text()")]
    public void Error_before_the_deciding_node_is_told_to_everyone_who_asks_beyond_it(string xpath)
    {
        var (value, first) = (Compile(xpath), Compile("/order/type"));
        var scan = Scan("<order><type>gold</type><line>x<broken");

        for (var i = 0; i < 2; i++)
            Assert.That(
                () => value(scan),
                Throws.InstanceOf<EsbException>().With.Property(nameof(EsbException.Code)).EqualTo("ESB-XML-SYNTAX")
            );
        Assert.That(first(scan), Is.EqualTo("gold"));
    }

    [TestCase("/order/line[last()]")]
    [TestCase("(//line)[1]")]
    [TestCase("/order/line/..")]
    [TestCase("/order | /invoice")]
    [TestCase("sum(//price)")]
    [TestCase("/order/line[sku='a']")]
    [TestCase("//a = //b")]
    [TestCase("/")]
    public void What_needs_the_tree_is_left_to_it_and_asks_nothing(string xpath)
    {
        Assert.That(new ScanCompiler(_paths, new Dictionary<string, string>()).CompileValue(xpath), Is.Null);
        Assert.That(_paths.Count, Is.Zero);
    }

    [Test]
    public void Questions_in_any_order_are_answered_by_one_pass()
    {
        var (last, first) = (Compile("/order/line[3]"), Compile("/order/line[1]"));
        var scan = Scan("<order><line>a</line><line>b</line><line>c</line></order>");

        Assert.That((last(scan), first(scan)), Is.EqualTo(("c", "a")));
    }

    private Func<XmlScan, object?> Compile(string xpath) => new ScanCompiler(_paths, new Dictionary<string, string>()).CompileValue(xpath)!;

    private XmlScan Scan(string document) => _paths.Scan(MessageBody.FromText(document));
}
