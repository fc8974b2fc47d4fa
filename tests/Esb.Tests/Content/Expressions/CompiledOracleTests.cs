using System.Text;
using System.Xml;
using System.Xml.XPath;
using Esb.Content.Expressions;
using Esb.Content.Json;
using Esb.Content.Json.Paths;
using Esb.Content.Xml;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Tests.Content.Json.Scanning;
using Esb.Tests.Content.Scanning;

namespace Esb.Tests.Content.Expressions;

/// <summary>Whichever way an expression is evaluated, by a forward pass or by the tree, the compiler's values and conditions give the
/// answer of the tree.</summary>
public sealed class CompiledOracleTests
{
    private const int Rounds = 60,
        Expressions = 20,
        Documents = 10;

    private static readonly XmlInput Xml = new(new XmlLimits());

    [TestCase(11), TestCase(12)]
    public void Every_XPath_gives_what_the_framework_gives(int seed)
    {
        var random = new Random(seed);
        var (documents, expressions) = (new SomeDocuments(random), new SomeXPaths(random));
        var (streamed, byTree) = (0, 0);

        for (var round = 0; round < Rounds; round++)
        {
            var compiler = SomeContent.Compiler(("p", "urn:p"));
            var compiled = Enumerable
                .Range(0, Expressions)
                .Select(_ => expressions.Next())
                .Select(xpath => new Compiled(
                    xpath,
                    Value(compiler, new ValueConfig { Xpath = xpath }),
                    Condition(compiler, new ConditionConfig { Xpath = xpath })
                ))
                .ToList();
            streamed += compiled.Count(one => (one.Value, one.Condition) is (ScannedValue, ScannedCondition));
            byTree += compiled.Count(one => (one.Value, one.Condition) is (XPathValue, XPathCondition));
            for (var i = 0; i < Documents; i++)
            {
                var document = documents.Next();
                var navigator = Xml.Navigate(MessageBody.FromBytes(document));
                Compare(
                    compiled,
                    document,
                    xpath => (ByFramework(xpath, navigator), ByFramework($"boolean({xpath})", navigator) is true),
                    random
                );
            }
        }

        Assert.That(streamed + byTree, Is.EqualTo(Rounds * Expressions), "value and condition go the same way");
        Assert.That((streamed > Rounds, byTree > Rounds), Is.EqualTo((true, true)), $"{streamed} by a forward pass, {byTree} by the tree");
    }

    [TestCase(13), TestCase(14)]
    public void Every_JSONPath_gives_what_the_tree_gives(int seed)
    {
        var random = new Random(seed);
        var (documents, paths) = (new SomeJsonDocuments(random), new SomeJsonPaths(random));
        var (streamed, byTree) = (0, 0);

        for (var round = 0; round < Rounds; round++)
        {
            var compiler = SomeContent.Compiler();
            var compiled = Enumerable
                .Range(0, Expressions)
                .Select(_ => paths.Next())
                .Select(path => new Compiled(
                    path,
                    Value(compiler, new ValueConfig { Jsonpath = path }),
                    Condition(compiler, new ConditionConfig { Jsonpath = path })
                ))
                .ToList();
            streamed += compiled.Count(one => one.Value is ScannedJsonValue);
            byTree += compiled.Count(one => one.Value is JsonPathValue);
            for (var i = 0; i < Documents; i++)
            {
                var document = documents.Next();
                if (IsText(document))
                    Compare(compiled, document, path => ByTree(path, document), random);
            }
        }

        Assert.That(streamed + byTree, Is.EqualTo(Rounds * Expressions));
        Assert.That((streamed > Rounds, byTree > Rounds), Is.EqualTo((true, true)), $"{streamed} by a forward pass, {byTree} by the tree");
    }

    // All over one message, so that those that share a pass do, and in any order.
    private static void Compare(List<Compiled> compiled, byte[] document, Func<string, (object? Value, bool Truth)> expected, Random random)
    {
        var context = Some.Context(Some.Message() with { Body = MessageBody.FromBytes(document) });
        foreach (var one in compiled.OrderBy(_ => random.Next()))
        {
            var isConditionFirst = random.Next(2) == 0;
            var truth = isConditionFirst && one.Condition.Holds(context);
            var value = one.Value.Evaluate(context);
            if (!isConditionFirst)
                truth = one.Condition.Holds(context);

            Assert.That(
                (value, truth),
                Is.EqualTo(expected(one.Expression)),
                $"{one.Expression} ({one.Value.GetType().Name}) over {Encoding.UTF8.GetString(document)}"
            );
        }
    }

    private static object? ByFramework(string xpath, XPathNavigator navigator)
    {
        var manager = new XmlNamespaceManager(new NameTable());
        manager.AddNamespace("p", "urn:p");
        return navigator.Evaluate(xpath, manager) switch
        {
            XPathNodeIterator nodes => nodes.MoveNext() ? nodes.Current!.Value : null,
            var other => other,
        };
    }

    // Alone a value holds where it is there, and neither null nor false (docs/reference/configuration/values.md).
    private static (object? Value, bool Truth) ByTree(string path, byte[] document)
    {
        var root = JsonInput.Read(MessageBody.FromBytes(document));
        var value = JsonPath.Parse(path).Select(root, new JsonScope(root)) is [var first, ..] ? JsonValues.Of(first) : null;
        return (value, value is not (null or false or "false"));
    }

    // Half a surrogate pair is found only where somebody looks at it: JsonScanOracleTests has those.
    private static bool IsText(byte[] document) => document.AsSpan().IndexOf("\\ud800"u8) < 0;

    private static IMessageValue Value(IExpressionCompiler compiler, ValueConfig config)
    {
        var errors = new ConfigErrors();
        return compiler.Compile(config, errors)
            ?? throw new AssertionException(string.Join('\n', errors.All.Select(error => error.Describe())));
    }

    private static IMessageCondition Condition(IExpressionCompiler compiler, ConditionConfig config)
    {
        var errors = new ConfigErrors();
        return compiler.Compile(config, errors)
            ?? throw new AssertionException(string.Join('\n', errors.All.Select(error => error.Describe())));
    }

    private sealed record Compiled(string Expression, IMessageValue Value, IMessageCondition Condition);
}
