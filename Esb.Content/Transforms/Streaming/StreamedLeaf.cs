namespace Esb.Content.Transforms.Streaming;

/// <summary>Actions at a node without children.</summary>
internal enum StreamedLeaf
{
    Drop,
    Copy,

    /// <summary>Of an attribute, its value as text: what XSLT 1.0, section 5.8, does where no template matches.</summary>
    AsText,
}
