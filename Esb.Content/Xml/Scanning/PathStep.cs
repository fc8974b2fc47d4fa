using System.Xml;

namespace Esb.Content.Xml.Scanning;

/// <summary>One step of a location path as a forward pass can follow it. Immutable.</summary>
/// <param name="Kind">What it selects.</param>
/// <param name="Descends">Whether it was written behind <c>//</c>: at any depth below, not only at the next.</param>
/// <param name="LocalName">The local name; null for any.</param>
/// <param name="Namespace">The namespace of the name.</param>
/// <param name="Predicates">What must be true, in order.</param>
/// <param name="Text">How it is written; equal steps are written equally.</param>
internal sealed record PathStep(
    PathStepKind Kind,
    bool Descends,
    string? LocalName,
    string Namespace,
    IReadOnlyList<PathPredicate> Predicates,
    string Text
)
{
    /// <summary>What stands for the document, from which every path begins.</summary>
    public static PathStep Document { get; } = new(PathStepKind.Document, Descends: false, LocalName: null, "", [], "");

    public bool IsDocument => Kind == PathStepKind.Document;

    /// <summary>Whether the element at which the reader stands has the name.</summary>
    public bool Names(XmlReader reader) => LocalName is null || (reader.LocalName == LocalName && reader.NamespaceURI == Namespace);
}

internal enum PathStepKind
{
    Document,
    Element,
    Attribute,
    Text,
}

/// <summary>A predicate that is decided at the start tag of its element.</summary>
/// <param name="Position">The position among the siblings that satisfy what stands before; 0 where the predicate is about
/// attributes.</param>
/// <param name="Holds">Looks at the attributes of the element at which the reader stands.</param>
internal sealed record PathPredicate(int Position, Func<XmlReader, bool>? Holds);
