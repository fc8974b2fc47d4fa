using System.Text;
using System.Text.Json;
using Esb.Content.Expressions;
using Esb.Content.Json;
using Esb.Content.Json.Paths;
using Esb.Content.Json.Scanning;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Tests.Content.Json.Scanning;

/// <summary>A forward pass and the tree give the same answers.</summary>
[TestFixture]
public sealed class JsonScanOracleTests
{
    [TestCase(1)]
    [TestCase(2)]
    [TestCase(3)]
    public void Thousands_of_documents_and_paths_get_the_answers_of_the_tree(int seed)
    {
        var random = new Random(seed);
        var documents = new SomeJsonDocuments(random);
        var paths = new SomeJsonPaths(random);
        var (scanned, all) = (0, 0);

        for (var round = 0; round < 150; round++)
        {
            var set = new JsonPathSet();
            var questions = Enumerable.Range(0, 20).Select(_ => Asked.Of(paths.Next(), set)).ToList();
            all += questions.Count;
            scanned += questions.RemoveAll(asked => asked.Question is null) is var left ? 20 - left : 0;
            for (var i = 0; i < 10; i++)
                Compare(documents.Next(), set, questions, random);
        }

        Assert.That(scanned, Is.GreaterThan(all * 8 / 10), "most are evaluated without a tree");
    }

    [TestCase(4)]
    [TestCase(5)]
    [TestCase(6)]
    public void A_fault_in_a_document_is_met_or_lies_behind_what_decides(int seed)
    {
        var random = new Random(seed);
        var documents = new SomeJsonDocuments(random);
        var paths = new SomeJsonPaths(random);
        var (met, unseen) = (0, 0);

        for (var i = 0; i < 10_000; i++)
        {
            var set = new JsonPathSet();
            if (Asked.Of(paths.Next(), set) is not { Question: not null } asked)
                continue;
            var document = documents.NextSpoilt();
            var (tree, scan) = (asked.ByTree(document), asked.ByScan(set.Scan(MessageBody.FromBytes(document))));
            if (scan == tree)
                met++;
            else if (tree.Code is not null && scan.Code is null or "ESB-JSON-ENCODING")
                CompareWithWhatWasRead(document, asked, set, ref unseen);
            else
                Assert.Fail($"{asked.Path} over {Encoding.UTF8.GetString(document)}: {scan}, the tree says {tree}");
        }

        Assert.That((met, unseen), Is.GreaterThan((2_000, 100)));
    }

    [TestCase(7)]
    [TestCase(8)]
    public void A_document_that_is_still_coming_decides_as_the_whole_will_or_says_that_it_is_not_enough(int seed)
    {
        var random = new Random(seed);
        var documents = new SomeJsonDocuments(random);
        var paths = new SomeJsonPaths(random);
        var (decided, open) = (0, 0);

        for (var i = 0; i < 10_000; i++)
        {
            var set = new JsonPathSet();
            if (Asked.Of(paths.Next(), set) is not { Question: not null } asked)
                continue;
            var document = documents.Next();
            var beginning = MessageBody.FromBeginning(document.AsMemory(0, random.Next(document.Length)));
            try
            {
                Assert.That(
                    asked.ByScan(set.Scan(beginning)),
                    Is.EqualTo(asked.ByScan(set.Scan(MessageBody.FromBytes(document)))),
                    $"{asked.Path} over the beginning of {Encoding.UTF8.GetString(document)}"
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

    private static void Compare(byte[] document, JsonPathSet set, List<Asked> questions, Random random)
    {
        var body = MessageBody.FromBytes(document);
        foreach (var asked in questions.OrderBy(_ => random.Next()))
        {
            var (scan, tree) = (asked.ByScan(set.Scan(body)), asked.ByTree(document));
            if (scan == tree)
                continue;
            var unseen = 0;
            Assert.That(
                tree.Code,
                Is.EqualTo("ESB-JSON-ENCODING"),
                $"{asked.Path} over {Encoding.UTF8.GetString(document)}: {scan}, the tree says {tree}"
            );
            var alone = new JsonPathSet(); // half a surrogate pair behind the deciding value, which only the tree looked at
            CompareWithWhatWasRead(document, Asked.Of(asked.Path, alone), alone, ref unseen);
        }
    }

    // What decided must decide whatever follows: the same beginning with nothing behind it, made whole, gives the same answer.
    private static void CompareWithWhatWasRead(byte[] document, Asked asked, JsonPathSet set, ref int unseen)
    {
        var scan = set.Scan(MessageBody.FromBytes(document));
        var answer = asked.ByScan(scan);
        var mark = document.AsSpan().StartsWith(Encoding.UTF8.Preamble) ? 3 : 0;
        var whole = MadeWhole(document[mark..(mark + scan.Position)]);

        Assert.That(
            answer,
            Is.EqualTo(asked.ByTree(whole)),
            $"{asked.Path} over {Encoding.UTF8.GetString(document)}, read up to {scan.Position}"
        );
        unseen++;
    }

    private static byte[] MadeWhole(byte[] beginning)
    {
        var open = new Stack<byte>();
        var reader = new Utf8JsonReader(beginning, isFinalBlock: false, state: default);
        while (reader.Read())
        {
            if (reader.TokenType is JsonTokenType.StartArray)
                open.Push((byte)']');
            else if (reader.TokenType is JsonTokenType.StartObject)
                open.Push((byte)'}');
            else if (reader.TokenType is JsonTokenType.EndArray or JsonTokenType.EndObject)
                open.Pop();
        }

        return [.. beginning, .. open];
    }

    private sealed record Outcome(object? Value, string? Code);

    private sealed record Asked(string Path, JsonPath Compiled, JsonQuestion? Question)
    {
        public static Asked Of(string path, JsonPathSet set)
        {
            var compiled = JsonPath.Parse(path);
            return new Asked(path, compiled, JsonScanCompiler.Compile(compiled, wantsText: true, set));
        }

        public Outcome ByTree(byte[] document) =>
            Try(() =>
                new JsonPathValue(Compiled, () => null).Evaluate(
                    Some.Context(Some.Message() with { Body = MessageBody.FromBytes(document) })
                )
            );

        public Outcome ByScan(JsonScan scan) => Try(() => scan.Answer(Question!));

        private static Outcome Try(Func<object?> evaluate)
        {
            try
            {
                return new Outcome(evaluate(), null);
            }
            catch (EsbException ex)
            {
                return new Outcome(null, ex.Code);
            }
        }
    }
}
