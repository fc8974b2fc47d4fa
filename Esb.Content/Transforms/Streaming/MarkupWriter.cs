using System.Buffers;

namespace Esb.Content.Transforms.Streaming;

/// <summary>Writes markup as the framework's XML writer does without indentation. Checks nothing: names and nesting are its
/// caller's.</summary>
internal sealed class MarkupWriter(Utf8Buffer output)
{
    private static readonly SearchValues<char> InText = SearchValues.Create("<>&\r");
    private static readonly SearchValues<char> InAttribute = SearchValues.Create("<>&\"\t\n\r");

    private bool _isEmpty; // the start tag of the innermost element lacks its end

    public void Declaration() => output.Write("<?xml version=\"1.0\" encoding=\"utf-8\"?>"u8);

    public void StartElement(MarkupName name)
    {
        Complete();
        output.Write("<"u8);
        output.Write(name.Utf8);
        _isEmpty = true;
    }

    public void Attribute(string prefix, string name, ReadOnlySpan<char> value)
    {
        output.Write(" "u8);
        QualifiedName(prefix, name);
        output.Write("=\""u8);
        Escape(value, InAttribute);
        output.Write("\""u8);
    }

    public void EndElement(MarkupName name)
    {
        if (_isEmpty)
        {
            output.Write(" />"u8);
            _isEmpty = false;
            return;
        }

        output.Write("</"u8);
        output.Write(name.Utf8);
        output.Write(">"u8);
    }

    public void Text(ReadOnlySpan<char> text)
    {
        Complete();
        Escape(text, InText);
    }

    public void Comment(string text)
    {
        Complete();
        output.Write("<!--"u8);
        output.Write(text);
        output.Write("-->"u8);
    }

    public void Instruction(string target, string text)
    {
        Complete();
        output.Write("<?"u8);
        output.Write(target);
        if (text.Length > 0)
            output.Write(" "u8);
        output.Write(text);
        output.Write("?>"u8);
    }

    private void Complete()
    {
        if (_isEmpty)
            output.Write(">"u8);
        _isEmpty = false;
    }

    private void QualifiedName(string prefix, string name)
    {
        if (prefix.Length > 0)
        {
            output.Write(prefix);
            output.Write(":"u8);
        }

        output.Write(name);
    }

    private void Escape(ReadOnlySpan<char> text, SearchValues<char> special)
    {
        while (text.IndexOfAny(special) is var position and >= 0)
        {
            output.Write(text[..position]);
            output.Write(Reference(text[position], special == InText));
            text = text[(position + 1)..];
        }

        output.Write(text);
    }

    private static ReadOnlySpan<byte> Reference(char character, bool isText) =>
        character switch
        {
            '<' => "&lt;"u8,
            '>' => "&gt;"u8,
            '&' => "&amp;"u8,
            '"' => "&quot;"u8,
            '\t' => "&#x9;"u8,
            '\n' => "&#xA;"u8,
            '\r' when !isText => "&#xD;"u8,
            _ => throw new NotStreamedException(), // line ends are the framework's to normalise
        };
}
