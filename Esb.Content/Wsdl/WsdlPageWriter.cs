using System.Globalization;
using System.Xml.Linq;

namespace Esb.Content.Wsdl;

/// <summary>Writes the documents of a WSDL with places for the address under which callers ask.</summary>
internal static class WsdlPageWriter
{
    public static WsdlPages Write(WsdlFiles files)
    {
        var wsdls = files.Wsdls.Select(file => file.Path).ToList();
        var schemas = files.Schemas.Select(file => file.Path).ToList();
        return new WsdlPages(
            [.. files.Wsdls.Select(file => Text(file.Path, file.Document))],
            [.. files.Schemas.Select(file => Text(file.Path, file.Document))]
        );

        string Text(string path, XDocument document)
        {
            var copy = new XDocument(document);
            foreach (var (written, element) in document.Descendants().Zip(copy.Descendants()))
            {
                if (element.Name == WsdlNames.Soap11 + "address" || element.Name == WsdlNames.Soap12 + "address")
                    element.SetAttributeValue("location", WsdlPages.Place);
                else if (element.Name == WsdlNames.Wsdl + "import")
                    Move(element, "location", "wsdl", wsdls.IndexOf(files.PathOf(path, written, (string)written.Attribute("location")!)));
                else if (WsdlNames.SchemaReferences.Contains(element.Name) && (string?)written.Attribute("schemaLocation") is { } location)
                    Move(element, "schemaLocation", "xsd", schemas.IndexOf(files.PathOf(path, written, location)) + 1);
            }

            RemoveOtherPorts(copy);
            return $"""<?xml version="1.0" encoding="utf-8"?>{"\n"}{copy.Root!.ToString(SaveOptions.DisableFormatting)}{"\n"}""";
        }
    }

    private static void Move(XElement element, string attribute, string kind, int number) =>
        element.SetAttributeValue(attribute, string.Create(CultureInfo.InvariantCulture, $"{WsdlPages.Place}?{kind}={number}"));

    // Ports of plain HTTP and of other transports are not served here.
    private static void RemoveOtherPorts(XDocument document)
    {
        document
            .Root!.Elements(WsdlNames.Wsdl + "service")
            .Elements(WsdlNames.Wsdl + "port")
            .Where(port => !port.Elements(WsdlNames.Soap11 + "address").Any() && !port.Elements(WsdlNames.Soap12 + "address").Any())
            .Remove();
    }
}
