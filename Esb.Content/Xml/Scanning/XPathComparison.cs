namespace Esb.Content.Xml.Scanning;

/// <summary>Compares the text of a node with a constant (XPath 1.0, section 3.4): of a set of nodes, one that satisfies it is
/// enough.</summary>
internal static class XPathComparison
{
    public static bool IsOperator(XPathToken token) =>
        token.Kind == XPathTokenKind.Symbol && token.Text is "=" or "!=" or "<" or "<=" or ">" or ">=";

    /// <summary>The operator with its sides exchanged.</summary>
    public static string Mirror(string comparison) =>
        comparison switch
        {
            "<" => ">",
            "<=" => ">=",
            ">" => "<",
            ">=" => "<=",
            _ => comparison,
        };

    public static Func<string, bool> With(string comparison, string constant) =>
        comparison switch
        {
            "=" => text => text == constant,
            "!=" => text => text != constant,
            _ => With(comparison, XPathNumbers.Parse(constant)), // order is one of numbers
        };

    public static Func<string, bool> With(string comparison, double constant)
    {
        var holds = Of(comparison);
        return text => holds(XPathNumbers.Parse(text), constant);
    }

    public static Func<double, double, bool> Of(string comparison) =>
        comparison switch
        {
            "=" => (left, right) => left == right,
            "!=" => (left, right) => left != right,
            "<" => (left, right) => left < right,
            "<=" => (left, right) => left <= right,
            ">" => (left, right) => left > right,
            ">=" => (left, right) => left >= right,
            _ => throw new ArgumentOutOfRangeException(nameof(comparison), comparison, "not a comparison"),
        };
}
