using System.Text;
using System.Xml;
using System.Xml.XPath;
using Esb.Content.Xml;
using Esb.Content.Xml.Scanning;
using Esb.Core.Errors;
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
            for (var i = 0; i < 10; i++)
                Compare(documents.Next(), paths, compiled, random);
        }

        Assert.That(scanned, Is.GreaterThan(all * 7 / 10), "most are evaluated without a tree");
    }

    [TestCase(4)]
    [TestCase(5)]
    public void What_the_beginning_of_a_document_decides_holds_for_the_whole(int seed)
    {
        var random = new Random(seed);
        var documents = new SomeDocuments(random);
        var expressions = new SomeXPaths(random);
        var (decided, open) = (0, 0);

        for (var round = 0; round < 10_000; round++)
        {
            var paths = new PathSet(Xml);
            if (Compile(paths, expressions.Next()) is not { Value: { } value, Truth: { } truth } expression)
                continue;
            var document = documents.Next();
            var beginning = MessageBody.FromBytes(document.AsMemory(0, random.Next(document.Length)));
            var navigator = Xml.Navigate(MessageBody.FromBytes(document));
            foreach (
                var (evaluate, expected) in new[]
                {
                    (value, ByTree(expression.XPath, navigator)),
                    (scan => truth(scan), ByTree($"boolean({expression.XPath})", navigator)),
                }
            )
            {
                try
                {
                    Assert.That(
                        evaluate(paths.Scan(beginning)),
                        Is.EqualTo(expected),
                        $"{expression.XPath} over the beginning of {Encoding.UTF8.GetString(document)}"
                    );
                    decided++;
                }
                catch (EsbException ex)
                {
                    Assert.That(
                        ex.Code,
                        Is.EqualTo("ESB-XML-SYNTAX").Or.EqualTo("ESB-XML-EMPTY").Or.EqualTo("ESB-XML-ENCODING"),
                        Encoding.UTF8.GetString(beginning.Bytes.Span)
                    );
                    open++;
                }
            }
        }

        Assert.That((decided > 1_000, open > 1_000), Is.EqualTo((true, true)), $"{decided} decided, {open} open");
    }

    [TestCase(6)]
    [TestCase(7)]
    public void A_document_that_is_still_coming_decides_as_the_whole_will_or_says_that_it_is_not_enough(int seed)
    {
        var random = new Random(seed);
        var documents = new SomeDocuments(random);
        var expressions = new SomeXPaths(random);
        var (decided, open) = (0, 0);

        for (var round = 0; round < 10_000; round++)
        {
            var paths = new PathSet(Xml);
            if (Compile(paths, expressions.Next()) is not { Value: { } value, Truth: not null } expression)
                continue;
            var document = documents.Next();
            var beginning = MessageBody.FromBeginning(document.AsMemory(0, random.Next(document.Length)));
            try
            {
                Assert.That(
                    value(paths.Scan(beginning)),
                    Is.EqualTo(ByTree(expression.XPath, Xml.Navigate(MessageBody.FromBytes(document)))),
                    $"{expression.XPath} over the beginning of {Encoding.UTF8.GetString(document)}"
                );
                decided++;
            }
            catch (BodyNotCompleteException)
            {
                open++;
            }
        }

        Assert.That((decided > 500, open > 1_000), Is.EqualTo((true, true)), $"{decided} decided, {open} open");
    }

    private static object? ByTree(string xpath, XPathNavigator navigator)
    {
        var manager = new XmlNamespaceManager(new NameTable());
        manager.AddNamespace("p", "urn:p");
        return navigator.Evaluate(xpath, manager) switch
        {
            XPathNodeIterator nodes => nodes.MoveNext() ? nodes.Current!.Value : null,
            var other => other,
        };
    }

    private static Compiled Compile(PathSet paths, string xpath)
    {
        var compiler = new ScanCompiler(paths, Namespaces);
        return new Compiled(xpath, compiler.CompileValue(xpath), compiler.CompileTruth(xpath));
    }

    private static void Compare(byte[] document, PathSet paths, List<Compiled> expressions, Random random)
    {
        var body = MessageBody.FromBytes(document);
        var navigator = Xml.Navigate(body);
        foreach (var (xpath, value, truth) in expressions.OrderBy(_ => random.Next()))
        {
            if (value is null || truth is null)
                continue;
            var scan = paths.Scan(body);
            var expected = (ByTree(xpath, navigator), ByTree($"boolean({xpath})", navigator));

            Assert.That((value(scan), (object)truth(scan)), Is.EqualTo(expected), $"{xpath} over {Encoding.UTF8.GetString(document)}");
        }
    }

    private sealed record Compiled(string XPath, Func<XmlScan, object?>? Value, Func<XmlScan, bool>? Truth);
}
