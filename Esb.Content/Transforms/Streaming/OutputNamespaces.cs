namespace Esb.Content.Transforms.Streaming;

/// <summary>The namespaces declared so far in the output. A declaration is written once, behind the attributes of its element.</summary>
internal sealed class OutputNamespaces
{
    private const int SetsRemembered = 16;

    private readonly List<(string Prefix, string Uri, int Depth, int Hides)> _declared =
    [
        ("", "", -1, -1),
        ("xml", "http://www.w3.org/XML/1998/namespace", -1, -1),
    ];
    private readonly Dictionary<string, int> _latest = new() { [""] = 0, ["xml"] = 1 }; // by prefix, an index
    private readonly (int Scope, int Version)[] _declaredSets = new (int, int)[SetsRemembered];
    private int _written = 2;
    private int _version = 1;

    /// <summary>The namespace of a prefix; null where it has none.</summary>
    public string? Find(string prefix) => _latest.TryGetValue(prefix, out var index) ? _declared[index].Uri : null;

    public void Declare(string prefix, string uri, int depth)
    {
        var hides = -1;
        if (_latest.TryGetValue(prefix, out var index))
        {
            if (_declared[index].Uri == uri)
                return;
            hides = index;
        }

        _latest[prefix] = _declared.Count;
        _declared.Add((prefix, uri, depth, hides));
        _version++;
    }

    /// <summary>Declares those of the input. Most elements bring what their parents brought: then one look tells that nothing is
    /// new.</summary>
    public void Declare(InputNamespaces input, int depth)
    {
        var scope = input.Scope;
        ref var known = ref _declaredSets[scope & (SetsRemembered - 1)];
        if (known == (scope, _version))
            return;
        input.DeclareIn(this, depth);
        known = (scope, _version);
    }

    /// <summary>Writes what has been declared since.</summary>
    public void WriteTo(MarkupWriter writer)
    {
        for (; _written < _declared.Count; _written++)
        {
            var (prefix, uri, _, _) = _declared[_written];
            if (prefix.Length == 0)
                writer.Attribute("", "xmlns", uri);
            else
                writer.Attribute("xmlns", prefix, uri);
        }
    }

    /// <summary>Forgets what was declared at this depth.</summary>
    public void Leave(int depth)
    {
        if (_declared[^1].Depth != depth)
            return;
        for (; _declared[^1].Depth == depth; _declared.RemoveAt(_declared.Count - 1))
        {
            var (prefix, _, _, hides) = _declared[^1];
            if (hides < 0)
                _latest.Remove(prefix);
            else
                _latest[prefix] = hides;
        }

        _version++;
        _written = _declared.Count;
    }
}
