using System.Xml.XPath;
using Esb.Content.Expressions;
using Esb.Content.Formats;
using Esb.Content.Json.Paths;
using Esb.Content.Xml;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Expressions;

namespace Esb.Content.Splitting;

/// <summary>Compiles splitters. Immutable and thread-safe.</summary>
/// <param name="formats">The formats.</param>
/// <param name="xml">Reads XML, and bounds how long a path may take.</param>
/// <param name="namespaces">Prefixes of XPath.</param>
/// <param name="time">The clock.</param>
public sealed class SplitterCompiler(FormatModels formats, XmlInput xml, NamespaceModel namespaces, TimeProvider time)
{
    private const string JsonPathProperty = "jsonpath";
    private const string XPathProperty = "xpath";

    /// <summary>Divides JSON into the values that a JSONPath selects; null after an error.</summary>
    public IMessageSplitter? ByJsonPath(SettingsRecord settings, string jsonpath, ConfigErrors errors)
    {
        try
        {
            return new JsonSplitter(JsonPath.Parse(jsonpath), () => new JsonTime(time, xml.Limits.ExpressionTime));
        }
        catch (JsonPathException ex)
        {
            errors.Add("ESB-JPT-SYNTAX", settings, JsonPathProperty, ex.Message);
            return null;
        }
    }

    /// <summary>Divides XML into the elements that an XPath selects; null after an error.</summary>
    public IMessageSplitter? ByXPath(SettingsRecord settings, string xpath, ConfigErrors errors)
    {
        var source = new ValueConfig
        {
            Xpath = xpath,
            Path = settings.Path,
            Origin = settings.Origin,
        };
        if (new XPathCompiler(namespaces.Uris).Compile(xpath, source, errors) is not { } expression)
            return null;
        if (expression.ReturnType == XPathResultType.NodeSet)
            return new XmlSplitter(new XPathTree(expression, xml, time), XmlForwardSplitter.For(xpath, namespaces.Uris, xml));
        errors.Add("ESB-XPT-SYNTAX", settings, XPathProperty, "expected a path of elements");
        return null;
    }

    /// <summary>Divides a text into the records of a format; null after an error.</summary>
    public IMessageSplitter? ByFormat(SettingsRecord settings, string name, ConfigErrors errors)
    {
        if (formats.Find(name) is not { } format)
            return null; // reported
        if (format.HasRecords)
            return new FormatSplitter(format);
        errors.Add("ESB-CFG-VALUE", settings, "format", "no record of the format is its item; expected \"item\": true at one");
        return null;
    }
}
