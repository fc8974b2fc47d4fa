using System.Globalization;

namespace Esb.Content.Xml.Scanning;

/// <summary>Parses the location paths that a forward pass can follow (XPath 1.0, section 2): down from the root, by names, with positions
/// and attributes as predicates.</summary>
internal sealed class PathParser(XPathTokens tokens, IReadOnlyDictionary<string, string> namespaces)
{
    /// <exception cref="NotScannableException">It is another kind of path.</exception>
    public IReadOnlyList<PathStep> Parse()
    {
        var steps = new List<PathStep>();
        IsNext(out var descends); // without a slash it begins at the root as well
        do
        {
            steps.Add(ParseStep(descends));
        } while (IsNext(out descends));

        for (var i = 0; i < steps.Count - 1; i++)
            Require(steps[i].Kind == PathStepKind.Element);
        return steps;
    }

    private bool IsNext(out bool descends)
    {
        descends = tokens.TryTake("//");
        return descends || tokens.TryTake("/");
    }

    private PathStep ParseStep(bool descends)
    {
        var kind = tokens.TryTake("@") ? PathStepKind.Attribute : PathStepKind.Element;
        var isAny = tokens.TryTake("*");
        var name = isAny ? "*" : Name();
        if (!isAny && tokens.Current.Is("("))
            return ParseTextStep(name, kind, descends);
        Require(!tokens.Current.Is("::") && !tokens.Current.Is(":") && !(isAny && kind == PathStepKind.Attribute));
        var (uri, local) = isAny ? ("", null) : Resolve(name);
        var predicates = new List<PathPredicate>();
        var text = $"{(descends ? "//" : "/")}{(kind == PathStepKind.Attribute ? "@" : "")}{name}";
        while (tokens.TryTake("["))
        {
            predicates.Add(ParsePredicate(ref text));
            Require(tokens.TryTake("]"));
        }

        Require(predicates.Count == 0 || kind == PathStepKind.Element);
        Require(predicates.Count(predicate => predicate.Position > 0) <= 1); // one counter
        return new PathStep(kind, descends, local, uri, predicates, text);
    }

    private PathStep ParseTextStep(string name, PathStepKind kind, bool descends)
    {
        Require(name == "text" && kind == PathStepKind.Element && tokens.TryTake("(") && tokens.TryTake(")") && !tokens.Current.Is("["));
        return new PathStep(PathStepKind.Text, descends, LocalName: null, "", [], descends ? "//text()" : "/text()");
    }

    private PathPredicate ParsePredicate(ref string text)
    {
        if (tokens.Current.Kind == XPathTokenKind.Number)
        {
            Require(int.TryParse(tokens.Take().Text, NumberStyles.None, CultureInfo.InvariantCulture, out var position) && position > 0);
            text += $"[{position}]";
            return new PathPredicate(position, Holds: null);
        }

        Require(tokens.TryTake("@") && tokens.Current.Kind == XPathTokenKind.Name);
        var name = Name();
        var (uri, local) = Resolve(name);
        text += $"[@{name}";
        if (!XPathComparison.IsOperator(tokens.Current))
        {
            text += "]";
            return new PathPredicate(0, reader => reader.GetAttribute(local, uri) is not null);
        }

        var comparison = tokens.Take().Text;
        var constant = tokens.Take();
        Require(constant.Kind is XPathTokenKind.Literal or XPathTokenKind.Number);
        var holds =
            constant.Kind == XPathTokenKind.Number
                ? XPathComparison.With(comparison, XPathNumbers.Parse(constant.Text))
                : XPathComparison.With(comparison, constant.Text);
        text += $"{comparison}{constant.Kind} {constant.Text.Length} {constant.Text}]";
        return new PathPredicate(0, reader => reader.GetAttribute(local, uri) is { } value && holds(value));
    }

    private string Name()
    {
        Require(tokens.Current.Kind == XPathTokenKind.Name);
        return tokens.Take().Text;
    }

    // A name without a prefix is in no namespace (section 2.3).
    private (string Uri, string Local) Resolve(string name)
    {
        var colon = name.IndexOf(':', StringComparison.Ordinal);
        if (colon < 0)
            return ("", name);
        Require(namespaces.TryGetValue(name[..colon], out var uri));
        return (uri!, name[(colon + 1)..]);
    }

    private static void Require(bool isScannable)
    {
        if (!isScannable)
            throw new NotScannableException();
    }
}
