namespace Esb.Tests.Content.Scanning;

/// <summary>Makes sound XPath 1.0 expressions, of those that a forward pass can evaluate and of others.</summary>
internal sealed class SomeXPaths(Random random)
{
    private static readonly string[] Names = ["a", "b", "c", "p:a", "p:b", "*", "d"];
    private static readonly string[] Constants = ["'x'", "'y'", "10", "7", "-3.5", "''", "'x y'", "0", "\"10\"", "'<A'"];
    private static readonly string[] Operators = ["=", "!=", "<", "<=", ">", ">="];
    private static readonly string[] Rare = ["[last()]", "[position()=2]", "[b]", "/..", "[a or b]", "/ancestor::a", "[. = 'x']"];

    public string Next() =>
        random.Next(10) switch
        {
            0 or 1 or 2 => Path(),
            3 or 4 or 5 => $"{Operand()} {One(Operators)} {Operand()}",
            6 => $"{Truth()} {(random.Next(2) == 0 ? "and" : "or")} {Truth()}",
            7 => $"{One(["count", "string", "number", "boolean", "not", "string-length"])}({Path()})",
            8 => Truth(),
            _ => $"not({Truth()}) {(random.Next(2) == 0 ? "and" : "or")} ({Truth()})",
        };

    private string Truth() =>
        random.Next(4) switch
        {
            0 => $"{One(["contains", "starts-with"])}({Path()}, {One(["'x'", "'1'", "''"])})",
            1 => Path(),
            _ => $"{Path()}{One(Operators)}{One(Constants)}",
        };

    private string Operand() =>
        random.Next(5) switch
        {
            0 or 1 => Path(),
            2 => $"count({Path()})",
            3 => $"string({Path()})",
            _ => One(Constants),
        };

    private string Path()
    {
        var path = random.Next(6) == 0 ? One(Names) : One(["/", "//"]) + One(Names);
        path += Predicate();
        for (var i = random.Next(4); i > 0; i--)
            path += One(["/", "/", "//"]) + One(Names) + Predicate();
        if (random.Next(30) == 0)
            return path + One(Rare);
        return path + One(["", "", "", "/@a", "/@p:a", "//@b", "/text()", "//text()"]);
    }

    private string Predicate() =>
        random.Next(10) switch
        {
            0 => $"[{random.Next(1, 4)}]",
            1 => $"[@{One(["a", "b", "p:a"])}]",
            2 => $"[@{One(["a", "b"])}{One(Operators)}{One(Constants.Where(constant => constant[0] != '-').ToArray())}]",
            3 when random.Next(3) == 0 => $"[@a][{random.Next(1, 3)}]",
            _ => "",
        };

    private string One(string[] items) => random.GetItems(items, 1)[0];
}
