using System.Xml;
using Esb.Content.Expressions;

namespace Esb.Content.Transforms.Streaming;

/// <summary>One document on its way through a streamed stylesheet. Used once, by one thread.</summary>
internal sealed class StreamedRun(StreamedStylesheet stylesheet, XmlReader reader, StreamedOutput output, EvaluationTime time)
{
    private readonly TemplateCache _templates = new(stylesheet.Elements);
    private readonly NameCache _names = new();
    private readonly InputNamespaces _namespaces = new();
    private readonly Stack<StreamedTemplate> _open = [];

    public StreamedOutput Output => output;

    /// <exception cref="NotStreamedException">The engine must do it.</exception>
    /// <exception cref="Core.Errors.EsbException">It takes too long.</exception>
    public void Run()
    {
        Begin(stylesheet.Root);
        if (stylesheet.Root.Children == StreamedChildren.None)
            throw new NotStreamedException(); // the engine reads the document all the same
        while (reader.Read())
            Take();
        End();
        if (!output.HasRoot)
            throw new NotStreamedException();
    }

    /// <summary>Begins a copy of the element, with the namespaces in scope.</summary>
    public void OpenCopy()
    {
        var ns = reader.NamespaceURI;
        output.StartElement(_names.Find(reader.Prefix, reader.LocalName), ns);
        if (ns.Length == 0)
            output.Declare("", "");
        output.Declare(_namespaces);
    }

    /// <summary>Applies templates to the attributes.</summary>
    public void ApplyToAttributes()
    {
        if (!reader.MoveToFirstAttribute())
            return;
        do
        {
            if (!InputNamespaces.IsDeclaration(reader))
                Apply(stylesheet.Attributes.Find(reader.LocalName, reader.NamespaceURI));
        } while (reader.MoveToNextAttribute());
        reader.MoveToElement();
    }

    private void Take()
    {
        time.Move();
        switch (reader.NodeType)
        {
            case XmlNodeType.Element:
                TakeElement();
                break;
            case XmlNodeType.EndElement:
                End();
                _namespaces.Leave(reader.Depth);
                break;
            case XmlNodeType.Text or XmlNodeType.CDATA or XmlNodeType.Whitespace or XmlNodeType.SignificantWhitespace:
                TakeText();
                break;
            case XmlNodeType.Comment:
                if (TakesAll && stylesheet.Comments == StreamedLeaf.Copy)
                    output.Comment(reader.Value);
                break;
            case XmlNodeType.ProcessingInstruction:
                if (TakesAll && stylesheet.Instructions == StreamedLeaf.Copy)
                    output.Instruction(reader.LocalName, reader.Value);
                break;
        }
    }

    private bool TakesAll => _open.Peek().Children == StreamedChildren.All;

    private void TakeElement()
    {
        var depth = reader.Depth;
        var isEmpty = reader.IsEmptyElement;
        _namespaces.Enter(reader);
        var template = _templates.Find(reader.LocalName, reader.NamespaceURI);
        Begin(template);
        if (!isEmpty && template.Children != StreamedChildren.None)
            return;
        if (!isEmpty)
            SkipTo(depth);
        End();
        _namespaces.Leave(depth);
    }

    // White space outside of the root element is no text (XPath 1.0, section 5.7).
    private void TakeText()
    {
        if (reader.Depth > 0 && TakesAll && stylesheet.Text == StreamedLeaf.Copy && reader.Value is { Length: > 0 } text)
            output.Text(text);
    }

    private void Apply(StreamedLeaf toAttribute)
    {
        if (toAttribute == StreamedLeaf.Copy)
            output.Attribute(reader.Prefix, reader.LocalName, reader.NamespaceURI, reader.Value);
        else if (toAttribute == StreamedLeaf.AsText)
            output.Text(reader.Value);
    }

    private void Begin(StreamedTemplate template)
    {
        _open.Push(template);
        foreach (var step in template.Before)
            step(this);
    }

    private void End()
    {
        foreach (var step in _open.Pop().After)
            step(this);
    }

    private void SkipTo(int depth)
    {
        while (reader.Read() && reader.Depth > depth)
            time.Move();
    }
}
