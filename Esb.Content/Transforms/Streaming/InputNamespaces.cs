using System.Runtime.InteropServices;
using System.Xml;

namespace Esb.Content.Transforms.Streaming;

/// <summary>The namespaces in scope at the node that a reader has come to, in the order in which the engine copies them.</summary>
/// <remarks>One log of declarations that an element's end undoes: what an element costs grows with its own declarations only.</remarks>
internal sealed class InputNamespaces
{
    private const string Uri = "http://www.w3.org/2000/xmlns/";

    private readonly List<Declaration> _declarations = [];
    private readonly Dictionary<string, int> _latest = []; // by prefix, an index
    private readonly Stack<(int Depth, int Declared, int Scope)> _outer = [];
    private int _scopes;

    /// <summary>Identifies the set in scope: equal numbers mean equal sets.</summary>
    public int Scope { get; private set; }

    public static bool IsDeclaration(XmlReader reader) => (object)reader.NamespaceURI == Uri || reader.NamespaceURI == Uri;

    /// <summary>Adds the declarations of the element at which the reader stands.</summary>
    public void Enter(XmlReader reader)
    {
        if (!reader.MoveToFirstAttribute())
            return;
        var depth = reader.Depth - 1;
        do
        {
            if (IsDeclaration(reader))
                Declare(depth, reader.Prefix.Length == 0 ? "" : reader.LocalName, reader.Value);
        } while (reader.MoveToNextAttribute());
        reader.MoveToElement();
    }

    /// <summary>Removes the declarations made at this depth.</summary>
    public void Leave(int depth)
    {
        if (!_outer.TryPeek(out var outer) || outer.Depth != depth)
            return;
        _outer.Pop();
        Scope = outer.Scope;
        for (var i = _declarations.Count - 1; i >= outer.Declared; i--)
            Undo(_declarations[i]);
        CollectionsMarshal.SetCount(_declarations, outer.Declared);
    }

    /// <summary>Declares in the output what is in scope.</summary>
    public void DeclareIn(OutputNamespaces output, int depth)
    {
        foreach (ref readonly var declaration in CollectionsMarshal.AsSpan(_declarations))
        {
            if (!declaration.IsHidden)
                output.Declare(declaration.Prefix, declaration.Uri, depth);
        }
    }

    private void Declare(int depth, string prefix, string uri)
    {
        if (!_outer.TryPeek(out var outer) || outer.Depth != depth)
            _outer.Push((depth, _declarations.Count, Scope));
        Scope = ++_scopes;
        var hides = -1;
        if (_latest.TryGetValue(prefix, out var known))
            CollectionsMarshal.AsSpan(_declarations)[hides = known].IsHidden = true;
        _latest[prefix] = _declarations.Count;
        _declarations.Add(new Declaration(prefix, uri, hides));
    }

    private void Undo(Declaration declaration)
    {
        if (declaration.Hides < 0)
        {
            _latest.Remove(declaration.Prefix);
            return;
        }

        _latest[declaration.Prefix] = declaration.Hides;
        CollectionsMarshal.AsSpan(_declarations)[declaration.Hides].IsHidden = false;
    }

    private record struct Declaration(string Prefix, string Uri, int Hides, bool IsHidden = false);
}
