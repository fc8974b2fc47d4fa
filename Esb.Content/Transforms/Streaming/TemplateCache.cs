using System.Runtime.CompilerServices;

namespace Esb.Content.Transforms.Streaming;

/// <summary>Remembers templates by the very strings of a reader, which has one object for each name: comparing those is several times
/// faster than hashing them.</summary>
internal sealed class TemplateCache(StreamedRules<StreamedTemplate> rules)
{
    private const int Size = 64;

    private readonly (string? Name, string? Namespace, StreamedTemplate? Template)[] _known = new (string?, string?, StreamedTemplate?)[
        Size
    ];

    public StreamedTemplate Find(string name, string ns)
    {
        ref var known = ref _known[RuntimeHelpers.GetHashCode(name) & (Size - 1)];
        if (!ReferenceEquals(known.Name, name) || !ReferenceEquals(known.Namespace, ns))
            known = (name, ns, rules.Find(name, ns));
        return known.Template!;
    }
}
