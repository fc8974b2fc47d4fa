namespace Esb.Content.Transforms.Streaming;

/// <summary>The children that templates are applied to.</summary>
internal enum StreamedChildren
{
    None,
    Elements,
    All,
}
