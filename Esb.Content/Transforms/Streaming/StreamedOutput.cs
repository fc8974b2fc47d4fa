namespace Esb.Content.Transforms.Streaming;

/// <summary>The output of a run: elements that are open, namespaces, attributes before content. What the engine would treat in a way of its
/// own is left to it.</summary>
internal sealed class StreamedOutput(MarkupWriter writer, StreamedStylesheet stylesheet)
{
    private const int MostAttributes = 32; // more are left to the engine: each is compared with those before it

    private readonly OutputNamespaces _namespaces = new();
    private readonly Stack<MarkupName> _open = [];
    private readonly List<(string Name, string Namespace)> _attributes = [];
    private bool _takesAttributes;

    public bool HasRoot { get; private set; }

    public void StartElement(MarkupName name, string ns)
    {
        Begin();
        if (_open.Count == 0)
            StartRoot(name.Name, ns);
        writer.StartElement(name);
        _open.Push(name);
        _attributes.Clear();
        _takesAttributes = true;
        Declare(name.Prefix, ns);
    }

    public void Declare(string prefix, string ns) => _namespaces.Declare(prefix, ns, _open.Count);

    public void Declare(InputNamespaces namespaces) => _namespaces.Declare(namespaces, _open.Count);

    public void Attribute(string prefix, string name, string ns, string value)
    {
        if (!_takesAttributes || _attributes.Count == MostAttributes || _attributes.Contains((name, ns)))
            throw new NotStreamedException();
        if (ns.Length > 0)
        {
            if (_namespaces.Find(prefix) is { } other && other != ns)
                throw new NotStreamedException(); // the engine finds another prefix
            Declare(prefix, ns);
        }

        _attributes.Add((name, ns));
        writer.Attribute(prefix, name, value);
    }

    public void EndElement()
    {
        Begin();
        writer.EndElement(_open.Pop());
        _namespaces.Leave(_open.Count + 1);
    }

    public void Text(string text)
    {
        Begin();
        if (_open.Count == 0)
            throw new NotStreamedException(); // no document
        writer.Text(text);
    }

    public void Comment(string text)
    {
        Begin();
        writer.Comment(text);
    }

    public void Instruction(string target, string text)
    {
        Begin();
        writer.Instruction(target, text);
    }

    private void Begin()
    {
        if (!_takesAttributes)
            return;
        _namespaces.WriteTo(writer);
        _takesAttributes = false;
    }

    private void StartRoot(string name, string ns)
    {
        if (HasRoot || (stylesheet.DetectsHtml && ns.Length == 0 && name.Equals("html", StringComparison.OrdinalIgnoreCase)))
            throw new NotStreamedException();
        HasRoot = true;
    }
}
