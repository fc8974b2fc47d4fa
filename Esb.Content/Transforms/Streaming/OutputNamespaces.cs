namespace Esb.Content.Transforms.Streaming;

/// <summary>The namespaces declared so far in the output. A declaration is written once, behind the attributes of its element.</summary>
internal sealed class OutputNamespaces
{
    private readonly List<(string Prefix, string Uri, int Depth)> _declared = [("", "", -1), ("xml", "http://www.w3.org/XML/1998/namespace", -1)];
    private int _written = 2;

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
        if (Find(prefix) != uri) _declared.Add((prefix, uri, depth));
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
        while (_declared[^1].Depth == depth) _declared.RemoveAt(_declared.Count - 1);
        _written = _declared.Count;
    }
}
