namespace Esb.Content.Transforms.Streaming;

/// <summary>A stylesheet that needs no tree of its message: each node is decided on as it comes, and its output is complete when it ends.
/// Immutable and thread-safe.</summary>
/// <remarks>It makes, byte for byte, what the engine makes. A differential test compares the two over generated stylesheets and
/// documents.</remarks>
internal sealed record StreamedStylesheet
{
    public required StreamedTemplate Root { get; init; }

    public required StreamedRules<StreamedTemplate> Elements { get; init; }

    public required StreamedRules<StreamedLeaf> Attributes { get; init; }

    public required StreamedLeaf Text { get; init; }

    public required StreamedLeaf Comments { get; init; }

    public required StreamedLeaf Instructions { get; init; }

    public required bool HasDeclaration { get; init; }

    /// <summary>Whether a root element called html makes the output HTML: so it is where <c>xsl:output</c> names no method (XSLT 1.0,
    /// section 16).</summary>
    public required bool DetectsHtml { get; init; }
}
