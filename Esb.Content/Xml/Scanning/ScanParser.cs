namespace Esb.Content.Xml.Scanning;

/// <summary>Parses an expression (XPath 1.0, section 3) as far as a forward pass can evaluate it.</summary>
internal sealed class ScanParser(XPathTokens tokens, IReadOnlyDictionary<string, string> namespaces, ScanCompiler compiler)
{
    private readonly PathParser _paths = new(tokens, namespaces);

    /// <exception cref="NotScannableException">It needs the tree.</exception>
    public Operand Parse()
    {
        var whole = ParseOr();
        return tokens.Current.Kind == XPathTokenKind.End ? whole : throw new NotScannableException();
    }

    private Operand ParseOr()
    {
        var left = ParseAnd();
        while (tokens.TryTakeName("or"))
        {
            var (first, second) = (compiler.Truth(left), compiler.Truth(ParseAnd()));
            left = new Operand.Truth(scan => first(scan) || second(scan));
        }

        return left;
    }

    private Operand ParseAnd()
    {
        var left = ParseComparison();
        while (tokens.TryTakeName("and"))
        {
            var (first, second) = (compiler.Truth(left), compiler.Truth(ParseComparison()));
            left = new Operand.Truth(scan => first(scan) && second(scan));
        }

        return left;
    }

    // Two comparisons in a row compare with a boolean: left to the tree.
    private Operand ParseComparison()
    {
        var left = ParseOperand();
        if (!XPathComparison.IsOperator(tokens.Current))
            return left;
        var comparison = tokens.Take().Text;
        return compiler.Compare(left, comparison, ParseOperand());
    }

    private Operand ParseOperand()
    {
        switch (tokens.Current.Kind)
        {
            case XPathTokenKind.Literal:
                var text = tokens.Take().Text;
                return new Operand.Text(_ => text, text);
            case XPathTokenKind.Number:
                var number = XPathNumbers.Parse(tokens.Take().Text);
                return new Operand.Number(_ => number, number);
            default:
                if (tokens.TryTake("("))
                    return ParseInParentheses();
                return tokens.IsCall ? ParseCall() : new Operand.Nodes(_paths.Parse());
        }
    }

    // A path in parentheses may be filtered or go on: (//a)[1], which is another thing than //a[1].
    private Operand ParseInParentheses()
    {
        var inner = ParseOr();
        Require(tokens.TryTake(")") && tokens.Current.Text is not ("[" or "/" or "//"));
        return inner;
    }

    private Operand ParseCall()
    {
        var name = tokens.Take().Text;
        Require(tokens.TryTake("("));
        var arguments = new List<Operand>();
        while (!tokens.TryTake(")"))
        {
            arguments.Add(ParseOr());
            tokens.TryTake(",");
        }

        return Call(name, arguments);
    }

    private Operand Call(string name, IReadOnlyList<Operand> arguments)
    {
        switch ((name, arguments))
        {
            case ("true", []):
                return new Operand.Truth(_ => true);
            case ("false", []):
                return new Operand.Truth(_ => false);
            case ("not", [var inner]):
                var truth = compiler.Truth(inner);
                return new Operand.Truth(scan => !truth(scan));
            case ("boolean", [var inner]):
                return new Operand.Truth(compiler.Truth(inner));
            case ("count", [var nodes]):
                return compiler.Count(nodes);
            case ("number", [var inner]):
                return new Operand.Number(compiler.Number(inner));
            case ("string", [var inner]):
                return new Operand.Text(compiler.Text(inner));
            case ("string-length", [var inner]):
                var measured = compiler.Text(inner);
                return new Operand.Number(scan => measured(scan).Length);
            case ("contains", [var whole, var part]):
                return new Operand.Truth(Both(whole, part, (text, within) => text.Contains(within, StringComparison.Ordinal)));
            case ("starts-with", [var whole, var part]):
                return new Operand.Truth(Both(whole, part, (text, beginning) => text.StartsWith(beginning, StringComparison.Ordinal)));
            default:
                throw new NotScannableException();
        }
    }

    private Func<XmlScan, bool> Both(Operand first, Operand second, Func<string, string, bool> holds)
    {
        var (left, right) = (compiler.Text(first), compiler.Text(second));
        return scan => holds(left(scan), right(scan));
    }

    private static void Require(bool isScannable)
    {
        if (!isScannable)
            throw new NotScannableException();
    }
}
