namespace Esb.Content.Transforms.Streaming;

/// <summary>The best template for every node: one dictionary for names, one for namespaces, one answer for the rest. Immutable and
/// thread-safe.</summary>
internal sealed class StreamedRules<T>(
    IReadOnlyDictionary<(string Name, string Namespace), T> named,
    IReadOnlyDictionary<string, T> inNamespace,
    T others
)
{
    public T Find(string name, string ns) =>
        named.TryGetValue((name, ns), out var exact) ? exact
        : inNamespace.TryGetValue(ns, out var wide) ? wide
        : others;
}
