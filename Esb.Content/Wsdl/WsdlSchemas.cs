using System.Xml;
using System.Xml.Linq;
using System.Xml.Schema;
using Esb.Content.Xml;

namespace Esb.Content.Wsdl;

/// <summary>Compiles the schemas of a WSDL, and elements for the wrappers of RPC, which no schema declares.</summary>
internal sealed class WsdlSchemas
{
    private readonly XmlSchemaSet _schemas;
    private readonly List<WsdlFault> _faults = [];
    private readonly Dictionary<string, XmlSchema> _wrappers = [];
    private int _count;

    public WsdlSchemas(string folder)
    {
        _schemas = new XmlSchemaSet { XmlResolver = new FolderResolver(folder) };
        _schemas.ValidationEventHandler += (_, problem) => Note(problem.Exception, problem.Message);
    }

    /// <summary>The problems found.</summary>
    public IReadOnlyList<WsdlFault> Faults => _faults;

    /// <summary>Adds a schema that stands in a WSDL.</summary>
    public void Add(string path, XElement schema)
    {
        // Declarations of the elements around it are in scope.
        var alone = new XElement(schema);
        foreach (var declaration in schema.Ancestors().Attributes().Where(attribute => attribute.IsNamespaceDeclaration))
        {
            if (alone.Attribute(declaration.Name) is null)
                alone.Add(new XAttribute(declaration.Name, declaration.Value));
        }

        // Each has an address of its own, so that none is taken for another.
        var address = $"{new Uri(path).AbsoluteUri}#{++_count}-{((IXmlLineInfo)schema).LineNumber}";
        try
        {
            using var reader = XmlReader.Create(
                new StringReader(alone.ToString(SaveOptions.DisableFormatting)),
                ContentFile.ReaderSettings,
                address
            );
            _schemas.Add(null, reader);
        }
        catch (XmlException ex)
        {
            _faults.Add(new WsdlFault(path, 0, 0, XmlFaults.Cause(ex.Message)));
        }
    }

    /// <summary>Adds the wrapper of an operation of RPC: an element with a child for each part (WSDL 1.1, section 3.5).</summary>
    public void AddWrapper(XmlQualifiedName name, IEnumerable<(string Name, XmlQualifiedName Type)> parts)
    {
        if (!_wrappers.TryGetValue(name.Namespace, out var schema))
        {
            schema = new XmlSchema { TargetNamespace = name.Namespace.Length == 0 ? null : name.Namespace };
            _wrappers[name.Namespace] = schema;
        }

        if (schema.Items.OfType<XmlSchemaElement>().Any(element => element.Name == name.Name))
            return; // of another binding
        var content = new XmlSchemaSequence();
        foreach (var (part, type) in parts)
        {
            content.Items.Add(new XmlSchemaElement { Name = part, SchemaTypeName = type });
            if (
                type.Namespace != XmlSchema.Namespace
                && type.Namespace != name.Namespace
                && !schema.Includes.OfType<XmlSchemaImport>().Any(import => import.Namespace == type.Namespace)
            )
                schema.Includes.Add(new XmlSchemaImport { Namespace = type.Namespace });
        }

        schema.Items.Add(
            new XmlSchemaElement
            {
                Name = name.Name,
                SchemaType = new XmlSchemaComplexType { Particle = content },
            }
        );
    }

    /// <summary>Compiles all; <see cref="Faults"/> says whether the result can be used.</summary>
    public XmlSchemaSet Compile()
    {
        foreach (var wrapper in _wrappers.Values)
            _schemas.Add(wrapper);
        _schemas.Compile();
        return _schemas;
    }

    private void Note(XmlSchemaException problem, string text)
    {
        var (file, line) = PlaceOf(problem);
        _faults.Add(new WsdlFault(file, line, line == 0 ? 0 : problem.LinePosition, text));
    }

    // A schema inside a WSDL counts its own lines; its address has the line at which it begins.
    private static (string File, int Line) PlaceOf(XmlSchemaException problem)
    {
        if (!Uri.TryCreate(problem.SourceUri, UriKind.Absolute, out var address))
            return ("", 0);
        var begins = address.Fragment.Split('-') is [_, var line] && int.TryParse(line, out var number) ? number - 1 : 0;
        return (address.LocalPath, problem.LineNumber + begins);
    }
}
