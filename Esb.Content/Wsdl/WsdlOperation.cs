using System.Xml;

namespace Esb.Content.Wsdl;

/// <summary>An operation that a WSDL binds to SOAP. Immutable.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Input">The child of Body of a request: the element of a document, or the wrapper of RPC.</param>
/// <param name="Output">The child of Body of an answer; null for an operation without an answer.</param>
/// <param name="Actions">The actions that the bindings declare; empty ones are left out.</param>
/// <param name="AddressingActions">The actions of WS-Addressing of requests.</param>
/// <param name="AnswerAction">The action of WS-Addressing of an answer.</param>
public sealed record WsdlOperation(
    string Name,
    XmlQualifiedName Input,
    XmlQualifiedName? Output,
    IReadOnlyList<string> Actions,
    IReadOnlyList<string> AddressingActions,
    string AnswerAction
);
