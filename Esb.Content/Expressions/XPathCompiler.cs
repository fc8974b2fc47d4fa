using System.Text.RegularExpressions;
using System.Xml;
using System.Xml.XPath;
using System.Xml.Xsl;
using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Expressions;

namespace Esb.Content.Expressions;

/// <summary>Compiles XPath 1.0; what is wrong with an expression is found here, never when a message comes.</summary>
internal sealed partial class XPathCompiler(IReadOnlyDictionary<string, string> namespaces)
{
    private static readonly XPathDocument SomeDocument = new(new StringReader("<x/>"));

    /// <summary>The compiled expression, which any number of threads may evaluate at once: the framework evaluates a copy. Null after an
    /// error.</summary>
    public XPathExpression? Compile(string xpath, IValueSource source, ConfigErrors errors)
    {
        var context = new ExpressionContext(namespaces);
        if (PlaceIn(xpath) is { } place)
        {
            errors.Add(
                new ConfigError(
                    "ESB-XPT-DYNAMIC",
                    $"{source.Path}.xpath",
                    $"\"{xpath}\"",
                    $"expected an expression that no message changes: {place} has no meaning in XPath; compare its value beside the "
                        + $"expression, or in a condition of its own",
                    source.Origin
                )
            );
            return null;
        }

        try
        {
            var expression = XPathExpression.Compile(xpath);
            expression.SetContext(context);
            if (context.Problem is null)
            {
                FindNodes(expression);
                return expression;
            }
        }
        catch (XPathException ex)
        {
            context.Problem ??= ("ESB-XPT-SYNTAX", $"expected XPath 1.0: {ex.Message.TrimEnd('.')}");
        }

        var (code, expected) = context.Problem!.Value;
        errors.Add(new ConfigError(code, $"{source.Path}.xpath", $"\"{xpath}\"", expected, source.Origin));
        return null;
    }

    // What the framework compiles and then refuses for each message: a path that begins at something other than nodes.
    private static void FindNodes(XPathExpression expression)
    {
        if (SomeDocument.CreateNavigator().Evaluate(expression) is XPathNodeIterator nodes)
            nodes.MoveNext();
    }

    // An expression mistaken for a template: its places would never be filled in, and if they were, a sender could write expressions.
    private static string? PlaceIn(string xpath) => Place().Match(xpath) is { Success: true } match ? match.Value : null;

    [GeneratedRegex(@"\{(message|header|property)\.[^{}]*\}", RegexOptions.CultureInvariant)]
    private static partial Regex Place();

    /// <summary>What the names in an expression stand for, and the first that stands for nothing.</summary>
    private sealed class ExpressionContext : XsltContext
    {
        private readonly IReadOnlyDictionary<string, string> _namespaces;

        public ExpressionContext(IReadOnlyDictionary<string, string> namespaces)
        {
            _namespaces = namespaces;
            foreach (var (prefix, uri) in namespaces)
                AddNamespace(prefix, uri);
        }

        public (string Code, string Expected)? Problem { get; set; }

        public override bool Whitespace => true;

        public override string? LookupNamespace(string prefix)
        {
            if (base.LookupNamespace(prefix) is { } uri)
                return uri;
            Problem ??= (
                "ESB-XPT-NAMESPACE",
                $"the prefix {prefix} is unknown; name its URI in the section namespaces{NearestName.Hint(prefix, _namespaces.Keys)}"
            );
            return "";
        }

        public override IXsltContextFunction ResolveFunction(string prefix, string name, XPathResultType[] argTypes)
        {
            Problem ??= (
                "ESB-XPT-FUNCTION",
                $"the function {(prefix.Length == 0 ? name : $"{prefix}:{name}")} is unknown; XPath 1.0 has no such function"
            );
            return null!; // ends the compilation
        }

        public override IXsltContextVariable ResolveVariable(string prefix, string name)
        {
            Problem ??= ("ESB-XPT-SYNTAX", $"the variable ${name} is unknown; there are no variables here");
            return null!; // ends the compilation
        }

        public override bool PreserveWhitespace(XPathNavigator node) => true;

        public override int CompareDocument(string baseUri, string nextbaseUri) => 0;
    }
}
