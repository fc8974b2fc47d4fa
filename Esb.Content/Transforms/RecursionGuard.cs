using System.Runtime.CompilerServices;
using System.Text.RegularExpressions;
using System.Xml.Linq;

namespace Esb.Content.Transforms;

/// <summary>Ends a runaway stylesheet with an error: endless recursion would end the process with a stack overflow, and a sweep for each of
/// many nodes would never end.</summary>
/// <remarks>
/// A call of <see cref="Enter"/> is compiled into every template that can recurse on the same message, and into templates and loops that
/// search the document again for each node. Templates that only descend need no call, since the depth is limited; a call costs about half a
/// microsecond. A single expression is not interrupted.
/// </remarks>
internal sealed partial class RecursionGuard(TimeProvider time, TimeSpan limit)
{
    // A path of names, *, node() and text() from the current node; anything else may lead anywhere.
    private const string Step = @"\s*((@|child::|attribute::)?([\w-]+:)?([\w-][\w.-]*|\*)|(node|text|comment)\(\))\s*";
    private const string Path = $"{Step}(/{Step})*";

    public const string Namespace = "urn:esb:recursion-guard";

    private readonly long _start = time.GetTimestamp();

    /// <summary>Called by the stylesheet. Its name and form are what an XSLT extension object needs.</summary>
    /// <exception cref="InsufficientExecutionStackException">The stack is nearly used up.</exception>
    /// <exception cref="TimeoutException">The transformation takes too long.</exception>
    public string Enter()
    {
        RuntimeHelpers.EnsureSufficientExecutionStack();
        return time.GetElapsedTime(_start) < limit ? "" : throw new TimeoutException();
    }

    /// <summary>Compiles the calls into a stylesheet.</summary>
    public static void Protect(XDocument stylesheet)
    {
        var places = stylesheet
            .Descendants(StylesheetFiles.Xsl + "template")
            .Where(template => CanComeBack(template) || Sweeps(template))
            .Concat(stylesheet.Descendants(StylesheetFiles.Xsl + "for-each").Where(Sweeps))
            .ToList();
        foreach (var place in places)
            Protect(place);
    }

    private static void Protect(XElement place)
    {
        // An unused variable produces no output, and is evaluated all the same, since extension functions may have effects.
        var call = new XElement(
            StylesheetFiles.Xsl + "variable",
            new XAttribute(XNamespace.Xmlns + "esb-guard", Namespace),
            // inside one another, of different names: XSLT 1.0, section 11.5
            new XAttribute("name", $"esb-guard:entered-{place.Ancestors().Count()}"),
            new XAttribute("select", $"esb-guard:{nameof(Enter)}()")
        );
        if (
            place
                .Elements()
                .LastOrDefault(element => element.Name == StylesheetFiles.Xsl + "param" || element.Name == StylesheetFiles.Xsl + "sort") is
            { } first
        )
            first.AddAfterSelf(call);
        else
            place.AddFirst(call);
    }

    private static bool Sweeps(XElement place) =>
        place
            .Elements()
            .SelectMany(element => element.DescendantsAndSelf())
            .SelectMany(StylesheetExpressions.Of)
            .Any(expression => expression.Sweeps);

    private static bool CanComeBack(XElement template) =>
        template
            .Descendants()
            .Any(instruction =>
                instruction.Name == StylesheetFiles.Xsl + "call-template"
                || (
                    (instruction.Name == StylesheetFiles.Xsl + "apply-templates" || instruction.Name == StylesheetFiles.Xsl + "for-each")
                    && !GoesDown(instruction)
                )
            );

    private static bool GoesDown(XElement instruction) =>
        instruction.Attribute("select") is not { } select || Down().IsMatch(Predicates().Replace(select.Value, ""));

    [GeneratedRegex(@"\[[^\[\]]*\]")]
    private static partial Regex Predicates();

    [GeneratedRegex($@"^{Path}(\|{Path})*$")]
    private static partial Regex Down();
}
