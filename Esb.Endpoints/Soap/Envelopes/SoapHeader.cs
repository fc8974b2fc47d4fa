namespace Esb.Endpoints.Soap.Envelopes;

/// <summary>A header of an envelope. Immutable.</summary>
/// <param name="Name">Its local name.</param>
/// <param name="Namespace">Its namespace.</param>
/// <param name="MustUnderstand">True if a receiver that does not understand it must refuse the message.</param>
/// <param name="Role">The node that it is for; null or empty for the last one.</param>
/// <param name="Xml">The element, as a document of its own.</param>
internal sealed record SoapHeader(string Name, string Namespace, bool MustUnderstand, string? Role, ReadOnlyMemory<byte> Xml)
{
    public override string ToString() => Namespace.Length == 0 ? Name : $"{{{Namespace}}}{Name}";
}
