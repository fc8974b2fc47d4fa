using System.Xml;
using System.Xml.Linq;
using Esb.Content.Xml;

namespace Esb.Content.Wsdl;

/// <summary>Reads a WSDL with the files that it names: of its folder or below, and nothing else.</summary>
internal sealed class WsdlFiles
{
    private const int Most = 200;

    private readonly FolderResolver _resolver;
    private readonly List<(string Path, XDocument Document)> _wsdls = [];
    private readonly List<(string Path, XDocument Document)> _schemas = [];

    /// <exception cref="WsdlFault">A file cannot be read, or is not what it should be.</exception>
    public WsdlFiles(string path)
    {
        _resolver = new FolderResolver(Path.GetDirectoryName(path)!);
        ReadWsdl(path);
    }

    /// <summary>The WSDL, and those that it imports.</summary>
    public IReadOnlyList<(string Path, XDocument Document)> Wsdls => _wsdls;

    /// <summary>The files with schemas.</summary>
    public IReadOnlyList<(string Path, XDocument Document)> Schemas => _schemas;

    /// <summary>The path of a file that an element names.</summary>
    /// <exception cref="WsdlFault">It is outside of the folder.</exception>
    public string PathOf(string from, XElement element, string reference)
    {
        try
        {
            return _resolver.ResolveUri(new Uri(from), reference).LocalPath;
        }
        catch (Exception ex) when (ex is XmlException or UriFormatException)
        {
            throw Fault(
                from,
                element,
                $"refers to {reference}; only relative names of files in the folder of the WSDL or below are allowed"
            );
        }
    }

    public static WsdlFault Fault(string path, XObject place, string problem)
    {
        var info = (IXmlLineInfo)place;
        return new WsdlFault(path, info.LineNumber, info.LinePosition, problem);
    }

    private void ReadWsdl(string path)
    {
        if (_wsdls.Exists(known => known.Path == path))
            return;
        var document = Load(path);
        var root = document.Root!;
        if (root.Name != WsdlNames.Wsdl + "definitions")
            throw Fault(path, root, $"expected definitions of WSDL 1.1, found {root.Name}");
        _wsdls.Add((path, document));
        foreach (var schema in root.Elements(WsdlNames.Wsdl + "types").Elements(WsdlNames.Xsd + "schema"))
            ReadReferences(path, schema);
        foreach (var import in root.Elements(WsdlNames.Wsdl + "import"))
        {
            if ((string?)import.Attribute("location") is not { } location)
                throw Fault(path, import, "an import names no location");
            ReadWsdl(PathOf(path, import, location));
        }
    }

    private void ReadReferences(string path, XElement schema)
    {
        foreach (var reference in schema.Elements().Where(element => WsdlNames.SchemaReferences.Contains(element.Name)))
        {
            if ((string?)reference.Attribute("schemaLocation") is not { } location)
                continue;
            var file = PathOf(path, reference, location);
            if (_schemas.Exists(known => known.Path == file))
                continue;
            var document = Load(file);
            if (document.Root!.Name != WsdlNames.Xsd + "schema")
                throw Fault(file, document.Root, $"expected an XML Schema, found {document.Root.Name}");
            _schemas.Add((file, document));
            ReadReferences(file, document.Root);
        }
    }

    private XDocument Load(string path)
    {
        if (_wsdls.Count + _schemas.Count >= Most)
            throw new WsdlFault(path, 0, 0, $"consists of more than {Most} files");
        try
        {
            using var reader = XmlReader.Create(File.OpenRead(path), ContentFile.ReaderSettings);
            return XDocument.Load(reader, LoadOptions.SetLineInfo | LoadOptions.PreserveWhitespace);
        }
        catch (XmlException ex)
        {
            throw new WsdlFault(path, ex.LineNumber, ex.LinePosition, XmlFaults.Cause(ex.Message));
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            throw new WsdlFault(path, 0, 0, File.Exists(path) ? $"cannot be read: {ex.Message}" : "does not exist");
        }
    }
}
