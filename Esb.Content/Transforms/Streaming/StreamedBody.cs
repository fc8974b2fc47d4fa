using System.Xml.Linq;

namespace Esb.Content.Transforms.Streaming;

/// <summary>Compiles the content of a template into steps before, with and after the children of its element.</summary>
internal sealed class StreamedBody
{
    private readonly bool _isRoot;
    private readonly List<StreamedStep> _before = [];
    private readonly List<StreamedStep> _after = [];
    private StreamedChildren _children;

    private StreamedBody(bool isRoot) => _isRoot = isRoot;

    /// <param name="template">The template.</param>
    /// <param name="isRoot">True for the template of the document, which is not copied itself.</param>
    /// <exception cref="NotStreamedException">The template has an instruction that needs more than the element and its
    /// attributes.</exception>
    public static StreamedTemplate Compile(XElement template, bool isRoot = false)
    {
        var body = new StreamedBody(isRoot);
        body.AddAll(template);
        return new StreamedTemplate([.. body._before], body._children, [.. body._after]);
    }

    /// <summary>The action of the template at a node without children.</summary>
    /// <exception cref="NotStreamedException">The template does anything but copy or omit the node.</exception>
    public static StreamedLeaf CompileLeaf(XElement template)
    {
        var content = StylesheetContent.Of(template).ToList();
        if (content.Count == 0)
            return StreamedLeaf.Drop;
        return content is [XElement { Name: var name } copy] && name == StylesheetFiles.Xsl + "copy" && !copy.HasAttributes
            ? StreamedLeaf.Copy
            : throw new NotStreamedException();
    }

    private void AddAll(XElement parent)
    {
        foreach (var node in StylesheetContent.Of(parent))
            Add(node);
    }

    private void Add(XNode node)
    {
        switch (node)
        {
            case XText text:
                Write(text.Value);
                break;
            case XElement element when element.Name == StylesheetFiles.Xsl + "text" && !element.HasAttributes && element.Value.Length > 0:
                Write(element.Value);
                break;
            case XElement element when element.Name == StylesheetFiles.Xsl + "copy" && !element.HasAttributes:
                AddCopy(element);
                break;
            case XElement element when element.Name == StylesheetFiles.Xsl + "apply-templates" && !element.Nodes().Any():
                Apply(element);
                break;
            case XElement element when element.Name.Namespace != StylesheetFiles.Xsl:
                AddElement(element);
                break;
            default:
                throw new NotStreamedException();
        }
    }

    private void Write(string text) => Do(run => run.Output.Text(text));

    private void AddCopy(XElement copy)
    {
        if (!_isRoot)
            Do(run => run.OpenCopy());
        AddAll(copy);
        if (!_isRoot)
            Do(run => run.Output.EndElement());
    }

    private void AddElement(XElement element)
    {
        var literal = LiteralElement.Of(element);
        Do(run => literal.Start(run.Output));
        AddAll(element);
        Do(run => run.Output.EndElement());
    }

    private void Apply(XElement apply)
    {
        if (apply.Attributes().Any(attribute => attribute.Name != "select"))
            throw new NotStreamedException();
        var parts = (apply.Attribute("select")?.Value ?? "node()").Split('|', StringSplitOptions.TrimEntries);
        if (parts.Contains("@*"))
            ApplyToAttributes();
        var children = parts.Where(part => part != "@*").Distinct().ToList();
        if (children.Count > 1)
            throw new NotStreamedException();
        if (children.Count == 1)
            ApplyToChildren(children[0]);
    }

    // The reader is past the attributes once the children have been read.
    private void ApplyToAttributes()
    {
        if (_children != StreamedChildren.None)
            throw new NotStreamedException();
        if (!_isRoot)
            Do(run => run.ApplyToAttributes());
    }

    // The children can be read only once.
    private void ApplyToChildren(string select)
    {
        if (_children != StreamedChildren.None)
            throw new NotStreamedException();
        _children = select switch
        {
            "node()" => StreamedChildren.All,
            "*" => StreamedChildren.Elements,
            _ => throw new NotStreamedException(),
        };
    }

    private void Do(StreamedStep step) => (_children == StreamedChildren.None ? _before : _after).Add(step);
}
