using System.Text;
using System.Xml;
using System.Xml.XPath;
using Esb.Content.Xml;
using Esb.Content.Xml.Scanning;
using Esb.Core.Messages;

namespace Esb.Tests.Content.Scanning;

/// <summary>A forward pass and the tree of the framework give the same answers.</summary>
[TestFixture]
public sealed class ScanOracleTests
{
    private static readonly XmlInput Xml = new(new XmlLimits());
    private static readonly Dictionary<string, string> Namespaces = new() { ["p"] = "urn:p" };

    [TestCase(1)]
    [TestCase(2)]
    [TestCase(3)]
    public void Thousands_of_documents_and_expressions_get_the_answers_of_the_tree(int seed)
    {
        var random = new Random(seed);
        var documents = new SomeDocuments(random);
        var expressions = new SomeXPaths(random);
        var (scanned, all) = (0, 0);

        for (var round = 0; round < 100; round++)
        {
            var paths = new PathSet(Xml);
            var compiled = Enumerable.Range(0, 20).Select(_ => expressions.Next()).Select(xpath => Compile(paths, xpath)).ToList();
            all += compiled.Count;
            scanned += compiled.Count(expression => expression.Value is not null);
            for (var i = 0; i < 10; i++) Compare(documents.Next(), paths, compiled, random);
        }

        Assert.That(scanned, Is.GreaterThan(all * 7 / 10), "most are evaluated without a tree");
    }

    private static Compiled Compile(PathSet paths, string xpath)
    {
        var compiler = new ScanCompiler(paths, Namespaces);
        return new Compiled(xpath, compiler.CompileValue(xpath), compiler.CompileTruth(xpath));
    }

    private static void Compare(byte[] document, PathSet paths, List<Compiled> expressions, Random random)
    {
        var manager = new XmlNamespaceManager(new NameTable());
        manager.AddNamespace("p", "urn:p");
        var body = MessageBody.FromBytes(document);
        var navigator = Xml.Navigate(body);
        foreach (var (xpath, value, truth) in expressions.OrderBy(_ => random.Next()))
        {
            if (value is null || truth is null) continue;
            var scan = paths.Scan(body);
            var expected = navigator.Evaluate(xpath, manager) switch
            {
                XPathNodeIterator nodes => nodes.MoveNext() ? nodes.Current!.Value : null,
                var other => other,
            };
            var holds = navigator.Evaluate($"boolean({xpath})", manager);

            Assert.That((value(scan), truth(scan)), Is.EqualTo((expected, holds)), $"{xpath} over {Encoding.UTF8.GetString(document)}");
        }
    }

    private sealed record Compiled(string XPath, Func<XmlScan, object?>? Value, Func<XmlScan, bool>? Truth);
}
