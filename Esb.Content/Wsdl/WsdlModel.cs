using Esb.Content.Schemas;
using Esb.Core.Messages;

namespace Esb.Content.Wsdl;

/// <summary>A compiled WSDL 1.1 with its schemas. Immutable and thread-safe.</summary>
public sealed class WsdlModel
{
    private readonly XsdSchema _schema;

    internal WsdlModel(
        IReadOnlyList<WsdlOperation> operations,
        bool hasSoap11,
        bool hasSoap12,
        WsdlPages pages,
        XsdSchema schema,
        string contentHash,
        IReadOnlyList<string> paths
    )
    {
        (Operations, HasSoap11, HasSoap12, Pages, ContentHash, Paths) = (operations, hasSoap11, hasSoap12, pages, contentHash, paths);
        _schema = schema;
    }

    /// <summary>The operations that are bound to SOAP over HTTP.</summary>
    public IReadOnlyList<WsdlOperation> Operations { get; }

    /// <summary>True if a binding is for SOAP 1.1.</summary>
    public bool HasSoap11 { get; }

    /// <summary>True if a binding is for SOAP 1.2.</summary>
    public bool HasSoap12 { get; }

    /// <summary>The documents as callers get them.</summary>
    public WsdlPages Pages { get; }

    /// <summary>The same for files of the same names and bytes.</summary>
    public string ContentHash { get; }

    /// <summary>The full path of every file that it consists of.</summary>
    public IReadOnlyList<string> Paths { get; }

    /// <summary>Validates the child of a Body.</summary>
    /// <exception cref="Core.Errors.EsbException"><c>ESB-XML-SCHEMA</c> or <c>ESB-XML-ROOT</c>.</exception>
    public void Validate(EsbMessage message) => _schema.Validate(message);
}
