using System.Runtime.CompilerServices;

namespace Esb.Content.Transforms.Streaming;

/// <summary>The namespaces declared so far in the output. A declaration is written once, behind the attributes of its element.</summary>
internal sealed class OutputNamespaces
{
    private const int SetsRemembered = 16;

    private readonly List<(string Prefix, string Uri, int Depth)> _declared = [("", "", -1), ("xml", "http://www.w3.org/XML/1998/namespace", -1)];
    private readonly (object? Set, int Version)[] _declaredSets = new (object?, int)[SetsRemembered];
    private int _written = 2;
    private int _version = 1;

    /// <summary>The namespace of a prefix; null where it has none.</summary>
    public string? Find(string prefix)
    {
        for (var i = _declared.Count - 1; i >= 0; i--)
        {
            if (_declared[i].Prefix == prefix) return _declared[i].Uri;
        }

        return null;
    }

    public void Declare(string prefix, string uri, int depth)
    {
        if (Find(prefix) == uri) return;
        _declared.Add((prefix, uri, depth));
        _version++;
    }

    /// <summary>Declares several. Most elements bring what their parents brought: then one look tells that nothing is new.</summary>
    public void Declare(List<(string Prefix, string Uri)> set, int depth)
    {
        ref var known = ref _declaredSets[RuntimeHelpers.GetHashCode(set) & (SetsRemembered - 1)];
        if (ReferenceEquals(known.Set, set) && known.Version == _version) return;
        foreach (var (prefix, uri) in set) Declare(prefix, uri, depth);
        known = (set, _version);
    }

    /// <summary>Writes what has been declared since.</summary>
    public void WriteTo(MarkupWriter writer)
    {
        for (; _written < _declared.Count; _written++)
        {
            var (prefix, uri, _) = _declared[_written];
            if (prefix.Length == 0) writer.Attribute("", "xmlns", uri);
            else writer.Attribute("xmlns", prefix, uri);
        }
    }

    /// <summary>Forgets what was declared at this depth.</summary>
    public void Leave(int depth)
    {
        if (_declared[^1].Depth != depth) return;
        while (_declared[^1].Depth == depth) _declared.RemoveAt(_declared.Count - 1);
        _version++;
        _written = _declared.Count;
    }
}
