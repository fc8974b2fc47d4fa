using System.Xml.Linq;

namespace Esb.Content.Transforms.Streaming;

/// <summary>Finds stylesheets that need no tree of their message, and compiles them: those that copy, rename, wrap and leave out.</summary>
/// <remarks>
/// Everything of XSLT 1.0 that is not known to be streamed exactly is left to the engine: looking around (paths, predicates, parents),
/// variables,
/// values, names or attributes that are computed, modes, several files, output settings beyond UTF-8 without indentation.
/// </remarks>
internal static class StreamedCompiler
{
    private static readonly string[] RootAttributes = ["version", "id"];
    private static readonly string[] TemplateAttributes = ["match", "priority"];

    /// <summary>The compiled stylesheet; null where the engine must do it.</summary>
    public static StreamedStylesheet? TryCompile(StylesheetFiles files)
    {
        try
        {
            return files.Documents.Count == 1 ? Compile(files.Main.Root!) : null;
        }
        catch (NotStreamedException)
        {
            return null;
        }
    }

    private static StreamedStylesheet Compile(XElement root)
    {
        Require(root.Name == StylesheetFiles.Xsl + "stylesheet" || root.Name == StylesheetFiles.Xsl + "transform");
        Require(HasOnly(root, RootAttributes));
        Require(
            root.Elements()
                .All(element => element.Name == StylesheetFiles.Xsl + "template" || element.Name == StylesheetFiles.Xsl + "output")
        );
        Require(!root.Descendants().Attributes(XNamespace.Xml + "space").Any());
        var output = StreamedOutputSettings.Of(root);
        var templates = root.Elements(StylesheetFiles.Xsl + "template").ToList();
        Require(templates.All(template => HasOnly(template, TemplateAttributes)));
        // the engine writes them in an order of its own
        Require(!templates.Attributes().Any(attribute => attribute.IsNamespaceDeclaration));
        var rules = templates
            .SelectMany(template => StreamedPattern.Of(template).Select(pattern => (Pattern: pattern, Template: template)))
            .Reverse()
            .OrderByDescending(rule => rule.Pattern.Priority)
            .ToList(); // of equals the last one counts (XSLT 1.0, section 5.5); the order is stable
        return new StreamedStylesheet
        {
            Root = rules.FirstOrDefault(rule => rule.Pattern.Kind == "/").Template is { } document
                ? StreamedBody.Compile(document, isRoot: true)
                : StreamedTemplate.BuiltIn,
            Elements = Group(
                rules.Where(rule => rule.Pattern.Kind is "*" or "node()"),
                template => StreamedBody.Compile(template),
                StreamedTemplate.BuiltIn
            ),
            Attributes = Group(rules.Where(rule => rule.Pattern.Kind == "@"), StreamedBody.CompileLeaf, StreamedLeaf.AsText),
            Text = Leaf(rules, "text()", StreamedLeaf.Copy),
            Comments = Leaf(rules, "comment()", StreamedLeaf.Drop),
            Instructions = Leaf(rules, "processing-instruction()", StreamedLeaf.Drop),
            HasDeclaration = output.HasDeclaration,
            DetectsHtml = output.DetectsHtml,
        };
    }

    // Rules come best first: of each name, of each namespace, and of all, the best one that fits.
    private static StreamedRules<T> Group<T>(
        IEnumerable<(StreamedPattern Pattern, XElement Template)> rules,
        Func<XElement, T> compile,
        T builtIn
    )
    {
        var ordered = rules.ToList();
        var compiled = ordered.Select(rule => rule.Template).Distinct().ToDictionary(template => template, compile);
        var named = ordered
            .Where(rule => rule.Pattern.Name is not null)
            .Select(rule => (rule.Pattern.Name!, rule.Pattern.Namespace!))
            .Distinct()
            .ToDictionary(name => name, name => Best(name.Item1, name.Item2));
        var inNamespace = ordered
            .Where(rule => rule.Pattern is { Name: null, Namespace: not null })
            .Select(rule => rule.Pattern.Namespace!)
            .Distinct()
            .ToDictionary(ns => ns, ns => Best(null, ns));
        return new StreamedRules<T>(named, inNamespace, Best(null, null));

        T Best(string? name, string? ns) =>
            ordered.FirstOrDefault(rule => Fits(rule.Pattern, name, ns)).Template is { } template ? compiled[template] : builtIn;
    }

    private static bool Fits(StreamedPattern pattern, string? name, string? ns) =>
        (pattern.Name is null || pattern.Name == name) && (pattern.Namespace is null || pattern.Namespace == ns);

    private static StreamedLeaf Leaf(IEnumerable<(StreamedPattern Pattern, XElement Template)> rules, string kind, StreamedLeaf builtIn) =>
        rules.FirstOrDefault(rule => rule.Pattern.MatchesLeaf(kind)).Template is { } template
            ? StreamedBody.CompileLeaf(template)
            : builtIn;

    private static bool HasOnly(XElement element, string[] attributes) =>
        element
            .Attributes()
            .All(attribute =>
                attribute.IsNamespaceDeclaration
                || (attribute.Name.Namespace == XNamespace.None && attributes.Contains(attribute.Name.LocalName))
            );

    private static void Require(bool isStreamed)
    {
        if (!isStreamed)
            throw new NotStreamedException();
    }
}
