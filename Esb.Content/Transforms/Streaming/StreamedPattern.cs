using System.Globalization;
using System.Text.RegularExpressions;
using System.Xml.Linq;

namespace Esb.Content.Transforms.Streaming;

/// <summary>One alternative of a template's <c>match</c> with a single step, which can be decided without reading other nodes.</summary>
/// <param name="Kind">The kind of node: <c>/</c>, <c>*</c>, <c>@</c>, <c>node()</c>, <c>text()</c>, <c>comment()</c> or
/// <c>processing-instruction()</c>.</param>
/// <param name="Name">The local name; null for any.</param>
/// <param name="Namespace">The namespace; null for any.</param>
/// <param name="Priority">As XSLT 1.0, section 5.5, gives it where the template names none.</param>
internal sealed partial record StreamedPattern(string Kind, string? Name, string? Namespace, double Priority)
{
    /// <summary>The alternatives of a template.</summary>
    /// <exception cref="NotStreamedException">An alternative needs other nodes, or is not a supported pattern.</exception>
    public static IEnumerable<StreamedPattern> Of(XElement template)
    {
        var match = template.Attribute("match")?.Value ?? throw new NotStreamedException();
        return match.Split('|').Select(alternative => Parse(alternative.Trim(), template));
    }

    public bool MatchesLeaf(string kind) => Kind == kind || Kind == "node()";

    private static StreamedPattern Parse(string text, XElement template)
    {
        if (text is "/")
            return new(text, null, null, PriorityOf(template, 0.5));
        if (text is "node()" or "text()" or "comment()" or "processing-instruction()")
            return new(text, null, null, PriorityOf(template, -0.5));
        var step = Step().Match(text);
        if (!step.Success)
            throw new NotStreamedException();
        var kind = step.Groups["axis"].Success ? "@" : "*";
        var prefix = step.Groups["prefix"];
        var name = step.Groups["name"].Value is var written && written == "*" ? null : written;
        // A name without a prefix has no namespace, whatever the default namespace is (XPath 1.0, section 2.3).
        var ns =
            prefix.Success ? NamespaceOf(prefix.Value, template)
            : name is null ? null
            : "";
        return new(
            kind,
            name,
            ns,
            PriorityOf(
                template,
                name is not null ? 0
                    : ns is not null ? -0.25
                    : -0.5
            )
        );
    }

    private static string NamespaceOf(string prefix, XElement template) =>
        template.GetNamespaceOfPrefix(prefix)?.NamespaceName ?? throw new NotStreamedException();

    private static double PriorityOf(XElement template, double standard) =>
        template.Attribute("priority") is not { } priority ? standard
        : double.TryParse(
            priority.Value,
            NumberStyles.AllowLeadingSign | NumberStyles.AllowDecimalPoint,
            CultureInfo.InvariantCulture,
            out var number
        )
            ? number
        : throw new NotStreamedException();

    [GeneratedRegex(@"^(?<axis>@)?((?<prefix>[\p{L}_][\w.-]*):)?(?<name>\*|[\p{L}_][\w.-]*)$")]
    private static partial Regex Step();
}
