namespace Esb.Content.Xml.Scanning;

/// <summary>Compiles XPath 1.0 for a forward pass: paths, comparisons with constants, <c>and</c>, <c>or</c> and the functions that need no
/// tree.</summary>
/// <remarks>Other expressions are evaluated over the tree, which gives the same answers.</remarks>
internal sealed class ScanCompiler(PathSet paths, IReadOnlyDictionary<string, string> namespaces)
{
    private readonly List<(Operand.Nodes Nodes, PathQuestion Question)> _asked = []; // of the expression at hand

    /// <summary>Compiles the value of a valid expression: text, a number or a boolean; for nodes the text of the first, null if there are
    /// none. Null if it needs the tree.</summary>
    public Func<XmlScan, object?>? CompileValue(string xpath) =>
        Compile<object?>(
            xpath,
            operand =>
                operand switch
                {
                    Operand.Nodes nodes => Ask(nodes, new FirstText()) is var first ? scan => scan.Answer(first).Text : null!,
                    Operand.Text text => text.Of,
                    Operand.Number number => scan => number.Of(scan),
                    _ => Truth(operand) is var truth ? scan => truth(scan) : null!,
                }
        );

    /// <summary>Compiles a valid expression as a boolean (section 4.3); null if it needs the tree.</summary>
    public Func<XmlScan, bool>? CompileTruth(string xpath) => Compile(xpath, Truth);

    private Func<XmlScan, TResult>? Compile<TResult>(string xpath, Func<Operand, Func<XmlScan, TResult>> finish)
    {
        _asked.Clear();
        try
        {
            var compiled = finish(new ScanParser(new XPathTokens(xpath), namespaces, this).Parse());
            foreach (var (nodes, question) in _asked)
                paths.Ask(nodes.Path, question);
            return compiled;
        }
        catch (NotScannableException)
        {
            return null;
        }
    }

    internal Func<XmlScan, bool> Truth(Operand operand)
    {
        switch (operand)
        {
            case Operand.Nodes nodes:
                var any = Ask(nodes, new AnyNode());
                return scan => scan.Answer(any).Count > 0;
            case Operand.Text text:
                return scan => text.Of(scan).Length > 0;
            case Operand.Number number:
                return scan => number.Of(scan) is not 0 and not double.NaN;
            default:
                return ((Operand.Truth)operand).Of;
        }
    }

    internal Func<XmlScan, string> Text(Operand operand)
    {
        switch (operand)
        {
            case Operand.Nodes nodes:
                var first = Ask(nodes, new FirstText());
                return scan => scan.Answer(first).Text ?? "";
            case Operand.Text text:
                return text.Of;
            default:
                throw new NotScannableException(); // numbers as text: rare, and easy to get wrong
        }
    }

    internal Func<XmlScan, double> Number(Operand operand)
    {
        if (operand is Operand.Number number)
            return number.Of;
        var text = Text(operand);
        return scan => XPathNumbers.Parse(text(scan));
    }

    internal Operand.Number Count(Operand operand)
    {
        if (operand is not Operand.Nodes nodes)
            throw new NotScannableException();
        var count = Ask(nodes, new NodeCount());
        return new Operand.Number(scan => scan.Answer(count).Count);
    }

    internal Operand.Truth Compare(Operand left, string comparison, Operand right) =>
        (left, right) switch
        {
            (Operand.Nodes nodes, Operand.Text { Constant: { } constant }) => Any(nodes, XPathComparison.With(comparison, constant)),
            (Operand.Nodes nodes, Operand.Number { Constant: { } constant }) => Any(nodes, XPathComparison.With(comparison, constant)),
            (Operand.Text or Operand.Number, Operand.Nodes) => Compare(right, XPathComparison.Mirror(comparison), left),
            (Operand.Text first, Operand.Text second) when comparison is "=" or "!=" => new Operand.Truth(scan =>
                first.Of(scan) == second.Of(scan) == (comparison == "=")
            ),
            (Operand.Text or Operand.Number, Operand.Text or Operand.Number) => Compare(
                Number(left),
                XPathComparison.Of(comparison),
                Number(right)
            ),
            _ => throw new NotScannableException(),
        };

    private static Operand.Truth Compare(Func<XmlScan, double> left, Func<double, double, bool> holds, Func<XmlScan, double> right) =>
        new(scan => holds(left(scan), right(scan)));

    private Operand.Truth Any(Operand.Nodes nodes, Func<string, bool> holds)
    {
        var any = Ask(nodes, new AnyText(holds));
        return new Operand.Truth(scan => scan.Answer(any).Count > 0);
    }

    private TQuestion Ask<TQuestion>(Operand.Nodes nodes, TQuestion question)
        where TQuestion : PathQuestion
    {
        _asked.Add((nodes, question));
        return question;
    }
}
