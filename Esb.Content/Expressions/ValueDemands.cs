using System.Text.Json;
using System.Xml.XPath;
using Esb.Content.Json;
using Esb.Content.Json.Paths;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Processes;

namespace Esb.Content.Expressions;

/// <summary>Demands of a configuration on a value: it must exist in a message (<c>required</c>), and not more than once
/// (<c>single</c>).</summary>
internal static class ValueDemands
{
    private const string Refused = "ESB-CFG-VALUE";
    private const string NoValue = "ESB-EXPR-NOVALUE";

    /// <summary>True if the demands fit the compiled value; otherwise an error is reported.</summary>
    public static bool AreSound(IValueSource source, ConfigErrors errors)
    {
        (string Code, string Property, string Expected)? flaw = source switch
        {
            { Required: not true, Single: not true } => null,
            { Xpath: { } xpath } => XPathExpression.Compile(xpath).ReturnType == XPathResultType.NodeSet
                ? null
                : (
                    "ESB-XPT-TYPE",
                    "xpath",
                    "expected an expression that selects nodes: one that computes has a value in every message, and one only"
                ),
            { Single: true, Jsonpath: null } => (
                Refused,
                "single",
                "expected beside xpath and jsonpath, which may select more than one node"
            ),
            { Value: not null } or { Template: not null } => (
                Refused,
                "required",
                "expected beside what a message may lack, not beside value and template"
            ),
            _ => null,
        };
        if (flaw is (var code, var property, var expected))
            errors.Add(code, (SettingsRecord)source, property, expected);
        return flaw is null;
    }

    /// <summary>True if joined conditions make no demands; otherwise an error is reported.</summary>
    public static bool AreNone(ConditionConfig joined, ConfigErrors errors)
    {
        if (joined.Required == true)
            errors.Add(Refused, joined, "required", "expected beside a value, not beside all, any and not");
        if (joined.Single == true)
            errors.Add(Refused, joined, "single", "expected beside a value, not beside all, any and not");
        return joined is { Required: not true, Single: not true };
    }

    public static IMessageValue Required(IMessageValue value, IValueSource source) =>
        new RequiredValue(
            value,
            source switch
            {
                { Xpath: { } xpath } => context => Missing("ESB-XPT-NOMATCH", $"The XPath {Shown(xpath)} matches nothing", context),
                { Jsonpath: { } jsonpath } => MissingBy(JsonPath.Parse(jsonpath), $"The JSONPath {Shown(jsonpath)}"),
                { Header: { } header } => context => Missing(NoValue, $"There is no header {Shown(header)}", context),
                { Property: { } property } => context => Missing(NoValue, $"There is no property {Shown(property)}", context),
                { Attachment: { } attachment } => context => Missing(NoValue, $"There is no attachment {Shown(attachment)}", context),
                _ => context =>
                    Missing(NoValue, $"There is no {JsonNamingPolicy.CamelCase.ConvertName(source.Message.ToString()!)}", context),
            }
        );

    public static IMessageValue Single(IMessageValue value, IMessageValue count, IValueSource source)
    {
        var (code, what) = source.Xpath is { } xpath
            ? ("ESB-XPT-MULTI", $"The XPath {Shown(xpath)}")
            : ("ESB-JPT-MULTI", $"The JSONPath {Shown(source.Jsonpath!)}");
        return new SingleValue(
            value,
            count,
            (context, matches) =>
                Fault(code, $"{what} matches {matches:0} nodes in message {context.Received.Id}, where one at most may be.")
        );
    }

    // A missing member is reported with a code of its own if the document is not an object.
    private static Func<MessageContext, EsbException> MissingBy(JsonPath path, string what) =>
        context =>
            path.Segments is [{ Only: NameSelector }, ..]
            && JsonRoot.KindOf(context.Message.Body.BytesSoFar.Span) is { } kind and not JsonRoot.Object
                ? Missing("ESB-JSON-ROOT", $"{what} needs an object, and the JSON is {kind}", context)
                : Missing("ESB-JPT-NOMATCH", $"{what} matches nothing", context);

    private static EsbException Missing(string code, string what, MessageContext context) =>
        Fault(code, $"{what} in message {context.Received.Id}.");

    private static EsbException Fault(string code, string message) => new(code, message, FaultKind.Invalid);

    private static string Shown(string text) => Clipped.To(200, text);
}
