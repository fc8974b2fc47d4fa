namespace Esb.Content.Transforms.Streaming;

/// <summary>A template as it is worked on while a document goes by: what to do when an element begins, which of its children matter, and
/// what to do when it ends.</summary>
internal sealed record StreamedTemplate(StreamedStep[] Before, StreamedChildren Children, StreamedStep[] After)
{
    /// <summary>What XSLT 1.0, section 5.8, does with elements that no template matches.</summary>
    public static readonly StreamedTemplate BuiltIn = new([], StreamedChildren.All, []);
}
