using System.Xml;

namespace Esb.Endpoints.Soap.Envelopes;

/// <summary>A version of SOAP. Immutable.</summary>
internal sealed class SoapVersion
{
    /// <summary>SOAP 1.1: https://www.w3.org/TR/2000/NOTE-SOAP-20000508/.</summary>
    public static readonly SoapVersion V11 = new(
        "1.1",
        "http://schemas.xmlsoap.org/soap/envelope/",
        "text/xml",
        ["http://schemas.xmlsoap.org/soap/actor/next"]
    );

    /// <summary>SOAP 1.2: https://www.w3.org/TR/soap12-part1/.</summary>
    public static readonly SoapVersion V12 = new(
        "1.2",
        "http://www.w3.org/2003/05/soap-envelope",
        "application/soap+xml",
        ["http://www.w3.org/2003/05/soap-envelope/role/next", "http://www.w3.org/2003/05/soap-envelope/role/ultimateReceiver"]
    );

    private readonly string[] _roles;

    private SoapVersion(string name, string uri, string mediaType, string[] roles) =>
        (Name, Namespace, MediaType, _roles) = (name, uri, mediaType, roles);

    /// <summary>The number, as the property <c>soap.version</c> has it.</summary>
    public string Name { get; }

    /// <summary>The namespace of its envelopes.</summary>
    public string Namespace { get; }

    /// <summary>The media type of its envelopes over HTTP.</summary>
    public string MediaType { get; }

    /// <summary>The content type of an envelope in UTF-8.</summary>
    public string ContentType => $"{MediaType}; charset=utf-8";

    /// <summary>The version of a namespace; null for none.</summary>
    public static SoapVersion? Of(string uri) =>
        uri == V11.Namespace ? V11
        : uri == V12.Namespace ? V12
        : null;

    /// <summary>The name of the attribute that says for which node a header is.</summary>
    public string RoleAttribute => this == V11 ? "actor" : "role";

    /// <summary>True if a header with this role is for the last node of the message's way, which an endpoint is.</summary>
    public bool IsForUs(string? role) => string.IsNullOrEmpty(role) || Array.IndexOf(_roles, role) >= 0;

    /// <summary>A name in the namespace of the version.</summary>
    public XmlQualifiedName Qualify(string name) => new(name, Namespace);
}
