using System.Text.RegularExpressions;
using System.Xml;
using System.Xml.Schema;
using Esb.Content.Xml;
using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Content.Schemas;

/// <summary>Validates against one XML Schema; hints in the document (<c>xsi:schemaLocation</c>, inline schemas) are not followed.</summary>
internal sealed class XsdSchema(string name, XmlSchemaSet schemas, XmlInput xml) : IMessageSchema
{
    private const int Shown = 20;
    private const int LongestText = 300;
    private const int Counted = 10_000; // then a document is wrong enough, and counting on would cost a host more than its sender

    private readonly Lazy<ValueTypes> _types = new(() => XsdTypes.Of(schemas));

    public string Name => name;

    public ValueTypes Types => _types.Value;

    public void Validate(EsbMessage message)
    {
        var violations = new List<string>(0);
        var count = 0;
        var settings = new XmlReaderSettings
        {
            ValidationType = ValidationType.Schema,
            Schemas = schemas,
            ValidationFlags = XmlSchemaValidationFlags.ProcessIdentityConstraints | XmlSchemaValidationFlags.AllowXmlAttributes,
        };
        settings.ValidationEventHandler += (_, violation) =>
        {
            if (count++ < Shown)
                violations.Add(Describe(violation.Exception));
        };

        using var reader = xml.Read(message.Body.Bytes);
        CheckRoot(reader);
        using var validating = XmlReader.Create(reader, settings);
        try
        {
            while (count < Counted && validating.Read()) { }
        }
        catch (RegexMatchTimeoutException ex)
        {
            throw Undecided(reader, ex.MatchTimeout);
        }

        if (count > 0)
            throw Broken(violations, count);
    }

    // A root that the schema does not declare is no error to XSD: it would not be looked at.
    private void CheckRoot(XmlReader reader)
    {
        reader.MoveToContent();
        var found = new XmlQualifiedName(reader.LocalName, reader.NamespaceURI);
        if (schemas.GlobalElements.Contains(found))
            return;
        var roots = schemas.GlobalElements.Names.Cast<XmlQualifiedName>().Select(Show).Order(StringComparer.Ordinal).ToList();
        var expected = string.Join(" or ", roots.Take(5)) + (roots.Count > 5 ? $" or {roots.Count - 5} others" : "");
        var (line, column) = PositionOf(reader);
        throw new EsbException(
            "ESB-XML-ROOT",
            $"The document is not of schema {name}: expected {expected}, found {Show(found)} at line {line}, column {column}.",
            FaultKind.Invalid
        );
    }

    private EsbException Broken(List<string> violations, int count)
    {
        var places =
            count >= Counted ? $"at least {count} places"
            : count == 1 ? "1 place"
            : $"{count} places";
        var more = count > Shown ? $"; the first {Shown}" : "";
        return new EsbException(
            "ESB-XML-SCHEMA",
            $"The document breaks schema {name} in {places}{more}: {string.Join("; ", violations)}.",
            FaultKind.Invalid
        );
    }

    private EsbException Undecided(XmlReader reader, TimeSpan limit)
    {
        var (line, column) = PositionOf(reader);
        return new EsbException(
            "ESB-XML-SCHEMA",
            $"Whether the document is of schema {name} cannot be told: a pattern of the schema took longer than "
                + $"{limit.TotalSeconds:0} s for the value before line {line}, column {column}.",
            FaultKind.Invalid
        );
    }

    private static (int Line, int Column) PositionOf(XmlReader reader) =>
        reader is IXmlLineInfo position ? (position.LineNumber, position.LinePosition) : default;

    private static string Describe(XmlSchemaException violation) =>
        $"line {violation.LineNumber}, column {violation.LinePosition}: {MaskedFlow.Excerpt(violation.Message.TrimEnd('.'), LongestText)}";

    private static string Show(XmlQualifiedName element) =>
        element.Namespace.Length == 0 ? $"{element.Name} (no namespace)" : $"{{{element.Namespace}}}{element.Name}";
}
