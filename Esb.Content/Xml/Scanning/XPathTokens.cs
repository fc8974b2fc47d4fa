using System.Xml;

namespace Esb.Content.Xml.Scanning;

/// <summary>Reads an XPath token by token. The expression has been compiled by the framework before, so its syntax is right.</summary>
internal sealed class XPathTokens
{
    private static readonly string[] LongSymbols = ["//", "::", "!=", "<=", ">=", ".."];

    private readonly string _text;
    private int _position;

    public XPathTokens(string text)
    {
        _text = text;
        Current = Read();
    }

    public XPathToken Current { get; private set; }

    /// <summary>Whether this is the name of a function.</summary>
    public bool IsCall =>
        Current.Kind == XPathTokenKind.Name
        && _text.AsSpan(_position).TrimStart(" \t\r\n").StartsWith("(")
        && Current.Text is not ("text" or "node" or "comment" or "processing-instruction");

    public XPathToken Take()
    {
        var taken = Current;
        Current = Read();
        return taken;
    }

    public bool TryTake(string symbol)
    {
        if (!Current.Is(symbol))
            return false;
        Take();
        return true;
    }

    public bool TryTakeName(string name)
    {
        if (!Current.IsName(name))
            return false;
        Take();
        return true;
    }

    private XPathToken Read()
    {
        while (_position < _text.Length && XmlConvert.IsWhitespaceChar(_text[_position]))
            _position++;
        if (_position == _text.Length)
            return new XPathToken(XPathTokenKind.End, "");
        var first = _text[_position];
        if (first is '\'' or '"')
            return ReadLiteral(first);
        if (char.IsAsciiDigit(first) || (first == '.' && _position + 1 < _text.Length && char.IsAsciiDigit(_text[_position + 1])))
            return ReadWhile(XPathTokenKind.Number, c => char.IsAsciiDigit(c) || c == '.');
        return XmlConvert.IsStartNCNameChar(first) ? ReadName() : ReadSymbol();
    }

    private XPathToken ReadLiteral(char quote)
    {
        var end = _text.IndexOf(quote, _position + 1);
        var literal = _text[(_position + 1)..end];
        _position = end + 1;
        return new XPathToken(XPathTokenKind.Literal, literal);
    }

    // A colon belongs to a name where a name or an asterisk follows; two of them are the end of an axis.
    private XPathToken ReadName()
    {
        var name = ReadWhile(XPathTokenKind.Name, XmlConvert.IsNCNameChar);
        if (_position + 1 >= _text.Length || _text[_position] != ':' || !XmlConvert.IsStartNCNameChar(_text[_position + 1]))
            return name;
        _position++;
        return new XPathToken(XPathTokenKind.Name, $"{name.Text}:{ReadWhile(XPathTokenKind.Name, XmlConvert.IsNCNameChar).Text}");
    }

    private XPathToken ReadSymbol()
    {
        var symbol =
            Array.Find(LongSymbols, symbol => string.CompareOrdinal(_text, _position, symbol, 0, symbol.Length) == 0)
            ?? _text[_position].ToString();
        _position += symbol.Length;
        return new XPathToken(XPathTokenKind.Symbol, symbol);
    }

    private XPathToken ReadWhile(XPathTokenKind kind, Func<char, bool> belongs)
    {
        var start = _position;
        while (_position < _text.Length && belongs(_text[_position]))
            _position++;
        return new XPathToken(kind, _text[start.._position]);
    }
}
