using System.Runtime.CompilerServices;

namespace Esb.Content.Transforms.Streaming;

/// <summary>Encoded names by the very strings of a reader, which has one object for each.</summary>
internal sealed class NameCache
{
    private const int Size = 32;

    private readonly MarkupName?[] _known = new MarkupName?[Size];

    public MarkupName Find(string prefix, string name)
    {
        ref var known = ref _known[RuntimeHelpers.GetHashCode(name) & (Size - 1)];
        if (known is null || !ReferenceEquals(known.Name, name) || !ReferenceEquals(known.Prefix, prefix))
            known = new MarkupName(prefix, name);
        return known;
    }
}
