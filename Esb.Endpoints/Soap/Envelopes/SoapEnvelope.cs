using System.Xml;

namespace Esb.Endpoints.Soap.Envelopes;

/// <summary>An envelope that was read. Immutable.</summary>
/// <param name="Version">Its version.</param>
/// <param name="Headers">Its headers, in their order.</param>
/// <param name="Child">The name of the child of Body; null if Body is empty.</param>
/// <param name="Body">The child of Body, as a document of its own in UTF-8; empty if there is none.</param>
internal sealed record SoapEnvelope(
    SoapVersion Version,
    IReadOnlyList<SoapHeader> Headers,
    XmlQualifiedName? Child,
    ReadOnlyMemory<byte> Body
);
