using System.Runtime.CompilerServices;
using System.Text.RegularExpressions;
using System.Xml.Linq;

namespace Esb.Content.Transforms;

/// <summary>Lets endless recursion in a stylesheet end in an error: the engine would end the process with a stack overflow.</summary>
/// <remarks>
/// A call of <see cref="Enter"/> is compiled into every template that could come back to itself on the same message.
/// Templates that only go down the document need none, since the document's depth is limited; a call costs about half a microsecond.
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
        foreach (var template in stylesheet.Descendants(StylesheetFiles.Xsl + "template").Where(CanComeBack))
        {
            // A variable that nobody reads writes nothing, and is evaluated all the same, since extension functions may have effects.
            var call = new XElement(
                StylesheetFiles.Xsl + "variable",
                new XAttribute(XNamespace.Xmlns + "esb-guard", Namespace),
                new XAttribute("name", "esb-guard:entered"),
                new XAttribute("select", $"esb-guard:{nameof(Enter)}()"));
            if (template.Elements(StylesheetFiles.Xsl + "param").LastOrDefault() is { } parameter) parameter.AddAfterSelf(call);
            else template.AddFirst(call);
        }
    }

    private static bool CanComeBack(XElement template) => template.Descendants().Any(instruction =>
        instruction.Name == StylesheetFiles.Xsl + "call-template" ||
        ((instruction.Name == StylesheetFiles.Xsl + "apply-templates" || instruction.Name == StylesheetFiles.Xsl + "for-each") && !GoesDown(instruction)));

    private static bool GoesDown(XElement instruction) =>
        instruction.Attribute("select") is not { } select || Down().IsMatch(Predicates().Replace(select.Value, ""));

    [GeneratedRegex(@"\[[^\[\]]*\]")]
    private static partial Regex Predicates();

    [GeneratedRegex($@"^{Path}(\|{Path})*$")]
    private static partial Regex Down();
}
