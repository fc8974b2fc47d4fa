using System.Text.Json;

namespace Esb.Content.Json.Paths;

/// <summary>Parses the logical expression of a filter (RFC 9535, section 2.3.5.1).</summary>
internal sealed class JsonFilterParser(JsonPathScanner scanner, JsonPathParser paths)
{
    private static readonly string[] Signs = ["==", "!=", "<=", ">=", "<", ">"];

    public JsonTest Test() => Separated("||", () => Separated("&&", Basic, tests => new AllTest(tests)), tests => new AnyTest(tests));

    private JsonTest Separated(string sign, Func<JsonTest> operand, Func<List<JsonTest>, JsonTest> join)
    {
        var tests = new List<JsonTest>();
        do
        {
            scanner.SkipBlanks();
            tests.Add(operand());
            scanner.SkipBlanks();
        } while (scanner.Take(sign));
        return tests is [var only] ? only : join(tests);
    }

    private JsonTest Basic()
    {
        if (scanner.Take("!"))
        {
            scanner.SkipBlanks();
            return new NotTest(scanner.Take("(") ? Parenthesised() : Operand().AsTest(scanner));
        }

        return scanner.Take("(") ? Parenthesised() : Comparison();
    }

    private JsonTest Parenthesised()
    {
        var test = Test();
        scanner.Expect(")");
        return test;
    }

    private JsonTest Comparison()
    {
        var left = Operand();
        scanner.SkipBlanks();
        if (Signs.FirstOrDefault(scanner.Take) is not { } sign)
            return left.AsTest(scanner);
        scanner.SkipBlanks();
        return new ComparisonTest(left.AsValue(scanner), sign, Operand().AsValue(scanner));
    }

    private JsonOperand Operand()
    {
        if (scanner.Take("@"))
            return JsonOperand.Of(new JsonQuery(paths.Segments(), fromRoot: false));
        if (scanner.Take("$"))
            return JsonOperand.Of(new JsonQuery(paths.SegmentsFromRoot(), fromRoot: true));
        if (scanner.Quoted() is { } text)
            return Literal(JsonSerializer.SerializeToElement(text));
        if (scanner.Number() is { } number)
            return Literal(number);
        return scanner.Name() switch
        {
            "true" => Literal(JsonSerializer.SerializeToElement(true)),
            "false" => Literal(JsonSerializer.SerializeToElement(false)),
            "null" => Literal(JsonSerializer.SerializeToElement<object?>(null)),
            { } function => Function(function),
            null => throw scanner.Error("expected @, $, a constant or a function"),
        };
    }

    private JsonOperand Function(string name)
    {
        scanner.Expect("(");
        var result = name switch
        {
            "length" => JsonOperand.Of(new LengthFunction(Argument().AsValue(scanner))),
            "count" => JsonOperand.Of(new CountFunction(Argument().AsQuery(scanner))),
            "value" => JsonOperand.Of(new ValueFunction(Argument().AsQuery(scanner))),
            "match" => JsonOperand.Of(Regex(isWhole: true)),
            "search" => JsonOperand.Of(Regex(isWhole: false)),
            _ => throw scanner.Error($"{name} is no function of RFC 9535"),
        };
        scanner.Expect(")");
        return result;
    }

    private JsonOperand Argument()
    {
        scanner.SkipBlanks();
        var argument = Operand();
        scanner.SkipBlanks();
        return argument;
    }

    private RegexTest Regex(bool isWhole)
    {
        var text = Argument().AsValue(scanner);
        scanner.Expect(",");
        // A pattern taken from the document would let a sender supply the expression.
        if (Argument().AsValue(scanner) is not LiteralValue { Text: { } pattern })
            throw scanner.Error("expected a regular expression in quotes");
        return RegexTest.Compile(text, pattern, isWhole) ?? throw scanner.Error("expected a regular expression (RFC 9485) before this");
    }

    private static JsonOperand Literal(JsonElement element) => JsonOperand.Of(new LiteralValue(element));
}

/// <summary>One side of a comparison, a test, or a function argument; its position decides what it may be (section 2.4.3).</summary>
internal readonly record struct JsonOperand(JsonQuery? Query, JsonComparable? Value, JsonTest? Test)
{
    public static JsonOperand Of(JsonQuery query) => new(query, query.IsSingular ? new QueryValue(query) : null, new ExistenceTest(query));

    public static JsonOperand Of(JsonComparable value) => new(null, value, null);

    public static JsonOperand Of(JsonTest test) => new(null, null, test);

    public JsonTest AsTest(JsonPathScanner scanner) => Test ?? throw scanner.Error("expected a comparison");

    public JsonQuery AsQuery(JsonPathScanner scanner) => Query ?? throw scanner.Error("expected a path before this");

    public JsonComparable AsValue(JsonPathScanner scanner) => Value ?? throw scanner.Error("expected a single value before this");
}
