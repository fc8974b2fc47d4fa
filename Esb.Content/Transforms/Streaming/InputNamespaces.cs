using System.Xml;

namespace Esb.Content.Transforms.Streaming;

/// <summary>The namespaces in scope at the node that a reader has come to, in the order in which the engine copies them.</summary>
internal sealed class InputNamespaces
{
    private const string Uri = "http://www.w3.org/2000/xmlns/";

    private readonly Stack<(int Depth, List<(string Prefix, string Uri)> Before)> _outer = [];
    private List<(string Prefix, string Uri)> _inScope = [];

    public List<(string Prefix, string Uri)> InScope => _inScope;

    public static bool IsDeclaration(XmlReader reader) => (object)reader.NamespaceURI == Uri || reader.NamespaceURI == Uri;

    /// <summary>Takes in what the element declares that the reader stands at.</summary>
    public void Enter(XmlReader reader)
    {
        if (!reader.MoveToFirstAttribute()) return;
        var depth = reader.Depth - 1;
        do
        {
            if (IsDeclaration(reader)) Declare(depth, reader.Prefix.Length == 0 ? "" : reader.LocalName, reader.Value);
        }
        while (reader.MoveToNextAttribute());
        reader.MoveToElement();
    }

    /// <summary>Forgets what was declared at this depth.</summary>
    public void Leave(int depth)
    {
        if (_outer.TryPeek(out var outer) && outer.Depth == depth) _inScope = _outer.Pop().Before;
    }

    private void Declare(int depth, string prefix, string uri)
    {
        if (!_outer.TryPeek(out var outer) || outer.Depth != depth)
        {
            _outer.Push((depth, _inScope));
            _inScope = [.. _inScope];
        }

        _inScope.RemoveAll(known => known.Prefix == prefix);
        _inScope.Add((prefix, uri));
    }
}
