using System.Xml.Linq;

namespace Esb.Content.Wsdl;

/// <summary>Names of WSDL 1.1 and of its bindings to SOAP.</summary>
internal static class WsdlNames
{
    public const string Http = "http://schemas.xmlsoap.org/soap/http";

    public static readonly XNamespace Wsdl = "http://schemas.xmlsoap.org/wsdl/";
    public static readonly XNamespace Soap11 = "http://schemas.xmlsoap.org/wsdl/soap/";
    public static readonly XNamespace Soap12 = "http://schemas.xmlsoap.org/wsdl/soap12/";
    public static readonly XNamespace Xsd = "http://www.w3.org/2001/XMLSchema";
    public static readonly XNamespace Addressing = "http://www.w3.org/2006/05/addressing/wsdl";
    public static readonly XNamespace AddressingMetadata = "http://www.w3.org/2007/05/addressing/metadata";

    /// <summary>Elements of XML Schema that name another file.</summary>
    public static readonly IReadOnlyList<XName> SchemaReferences = [Xsd + "import", Xsd + "include", Xsd + "redefine"];
}
