using Esb.Content.Json.Paths;
using Esb.Content.Json.Scanning;
using Esb.Content.Xml;
using Esb.Content.Xml.Scanning;

namespace Esb.Tests.Content.Expressions;

/// <summary>All expressions of a configuration share one pass over a document: one that is compiled once documents are read is refused, whoever else would have met it.</summary>
public sealed class LateCompilationTests
{
    [Test]
    public void An_XPath_is_not_compiled_once_documents_are_read()
    {
        var paths = new PathSet(new XmlInput(new XmlLimits()));
        var compiler = new ScanCompiler(paths, new Dictionary<string, string>());
        var holds = compiler.CompileTruth("/order/type = 'gold'")!;
        var scan = paths.Scan(SomeContent.Body("<order><type>gold</type></order>"));

        Assert.That(() => compiler.CompileTruth("/order/line = 'a'"), Throws.InvalidOperationException);
        Assert.That(holds(scan), Is.True, "who asked before is not harmed");
    }

    [Test]
    public void A_JSONPath_is_not_compiled_once_documents_are_read()
    {
        var paths = new JsonPathSet();
        var type = JsonScanCompiler.Compile(JsonPath.Parse("$.type"), wantsText: true, paths)!;
        var scan = paths.Scan(SomeContent.Body("""{"type":"gold"}"""));

        Assert.That(() => JsonScanCompiler.Compile(JsonPath.Parse("$.line"), wantsText: true, paths), Throws.InvalidOperationException);
        Assert.That(scan.Answer(type), Is.EqualTo("gold"), "who asked before is not harmed");
    }
}
