using System.Text;
using System.Xml.XPath;
using Esb.Configuration;
using Esb.Content.Expressions;
using Esb.Content.Json.Paths;
using Esb.Content.Xml;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Expressions;

namespace Esb.Content.Masking;

/// <summary>Compiles the mask rules of a configuration.</summary>
public static class MaskCompiler
{
    /// <summary>The error code of an invalid rule.</summary>
    public const string Code = "ESB-AUD-MASK";

    /// <summary>Compiles rules; invalid rules are reported and left out.</summary>
    /// <param name="rules">The rules.</param>
    /// <param name="hashKey">The key of hashes; null if not configured, which is an error if a rule hashes.</param>
    /// <param name="namespaces">The namespaces of expressions.</param>
    /// <param name="xml">Reads bodies.</param>
    /// <param name="time">Ends expressions that take too long.</param>
    /// <param name="errors">Receives the errors.</param>
    public static IMessageMask Compile(
        IReadOnlyList<MaskConfig> rules,
        string? hashKey,
        NamespaceModel namespaces,
        XmlInput xml,
        TimeProvider time,
        ConfigErrors errors
    )
    {
        if (rules.Count == 0)
            return NoMask.Instance;
        var key = hashKey is null ? null : Encoding.UTF8.GetBytes(hashKey);
        foreach (var rule in rules.Where(rule => key is null && rule.Action == MaskAction.Hash))
            errors.Add(Code, rule, "action", "expected audit.hashKey beside it, a secret of at least 16 characters");

        var values = new ValueMask(key);
        var xpaths = new XPathCompiler(namespaces.Uris);
        var xmlRules = rules.Select(rule => CompileXPath(rule, xpaths, errors)).OfType<XmlRule>().ToList();
        var jsonRules = rules.Select(rule => CompileJsonPath(rule, errors)).OfType<JsonRule>().ToList();
        var forms = NamesOf(rules, rule => rule.Form, "form", errors);
        var body =
            xmlRules.Count + jsonRules.Count + forms.Count == 0
                ? null
                : new BodyMask(
                    new XmlMask(xmlRules, values, xml, time),
                    new JsonMask(jsonRules, values, () => new JsonTime(time, xml.Limits.ExpressionTime)),
                    new FormMask(forms, values)
                );
        return new MessageMask(body, NamesOf(rules, rule => rule.Header, "header", errors), values);
    }

    private static XmlRule? CompileXPath(MaskConfig rule, XPathCompiler xpaths, ConfigErrors errors)
    {
        if (rule.Xpath is null)
            return null;
        var found = new ConfigErrors();
        var expression = xpaths.Compile(
            rule.Xpath,
            new ValueConfig
            {
                Path = rule.Path,
                Origin = rule.Origin,
                Xpath = rule.Xpath,
            },
            found
        );
        foreach (var error in found.All)
            errors.Add(error with { Code = Code });
        if (expression is null)
            return null;
        if (expression.ReturnType == XPathResultType.NodeSet)
            return new XmlRule(expression, rule.Action);
        errors.Add(Code, rule, "xpath", "expected an expression that selects nodes");
        return null;
    }

    private static JsonRule? CompileJsonPath(MaskConfig rule, ConfigErrors errors)
    {
        if (rule.Jsonpath is null)
            return null;
        try
        {
            return new JsonRule(JsonPath.Parse(rule.Jsonpath), rule.Action);
        }
        catch (JsonPathException ex)
        {
            errors.Add(Code, rule, "jsonpath", ex.Message);
            return null;
        }
    }

    private static List<NameRule> NamesOf(
        IEnumerable<MaskConfig> rules,
        Func<MaskConfig, string?> nameOf,
        string property,
        ConfigErrors errors
    )
    {
        var names = new List<NameRule>();
        foreach (var rule in rules)
        {
            if (nameOf(rule) is not { } name)
                continue;
            if (string.IsNullOrWhiteSpace(name))
                errors.Add(Code, rule, property, "expected a name, or its beginning followed by *");
            else
                names.Add(new NameRule(name, rule.Action));
        }

        return names;
    }
}
