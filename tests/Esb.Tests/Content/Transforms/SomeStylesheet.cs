using System.Text;

namespace Esb.Tests.Content.Transforms;

/// <summary>A generated stylesheet of templates that copy, rename, wrap, add and leave out; now and then of something else.</summary>
internal sealed class SomeStylesheet
{
    private static readonly string[] Patterns =
    [
        "a",
        "b",
        "c",
        "p:a",
        "p:b",
        "q:*",
        "p:*",
        "*",
        "@*",
        "@x",
        "@p:x",
        "node()",
        "text()",
        "comment()",
        "processing-instruction()",
        "@*|node()",
        "a|b|@x",
        "/",
        "node()|@*",
        "a/b",
        "b[1]",
    ];

    private static readonly string[] Outputs =
    [
        "",
        "",
        "<xsl:output method='xml'/>",
        "<xsl:output omit-xml-declaration='yes'/>",
        "<xsl:output method='xml' encoding='UTF-8' indent='no'/>",
        "<xsl:output media-type='text/xml' version='1.0'/>",
    ];

    private static readonly string[] Namespaces =
    [
        "",
        " xmlns:p='urn:p'",
        " xmlns:r='urn:r'",
        " xmlns:q='urn:p'",
        " xmlns='urn:d'",
        " xmlns:p='urn:other'",
        " xmlns=''",
    ];

    private static readonly string[] OwnNamespaces = [.. Enumerable.Repeat("", 20), " xmlns:t='urn:t'"];

    private static readonly string[] Selects =
    [
        "",
        "",
        " select='@*|node()'",
        " select='node()'",
        " select='@*'",
        " select='*'",
        " select='node() | @*'",
        " select='a'",
        " select='.//b'",
    ];

    private readonly StringBuilder _text = new();
    private readonly Random _random;

    public SomeStylesheet(Random random)
    {
        _random = random;
        _text.Append(
            $"<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform' xmlns:p='urn:p' "
                + $"xmlns:q='urn:q'{Pick(["", "", " xmlns:r='urn:r'", " xmlns='urn:d'", " exclude-result-prefixes='p'"])}>"
        );
        _text.Append(Pick(Outputs));
        if (_random.Next(40) == 0)
            _text.Append("<xsl:strip-space elements='*'/>");
        if (_random.Next(4) > 0)
            _text.Append(SomeMaps.Identity);
        for (var i = _random.Next(5); i >= 0; i--)
            AddTemplate();
        _text.Append("</xsl:stylesheet>");
    }

    public string Text => _text.ToString();

    private void AddTemplate()
    {
        var pattern = Patterns[_random.Next(12) == 0 ? _random.Next(Patterns.Length) : _random.Next(Patterns.Length - 2)];
        _text.Append($"<xsl:template match='{pattern}'{Pick(["", "", "", "", " priority='1'", " priority='-0.4'"])}{Pick(OwnNamespaces)}>");
        var isLeaf = pattern.StartsWith('@') || pattern.Contains("()", StringComparison.Ordinal);
        if (isLeaf && _random.Next(10) > 0)
            _text.Append(Pick(["", "<xsl:copy/>", "<xsl:copy><xsl:apply-templates select='@*|node()'/></xsl:copy>"]));
        else
            AddContent(3, 1);
        _text.Append("</xsl:template>");
    }

    private void AddContent(int depth, int applies)
    {
        for (var i = _random.Next(3); i >= 0; i--)
        {
            switch (_random.Next(8))
            {
                case 0:
                    _text.Append(
                        Pick(["text", " ", "\n  ", "<xsl:text> </xsl:text>", "<xsl:text>&lt;é</xsl:text>", "<!-- note -->", "a &amp; b"])
                    );
                    break;
                case 1 or 2 when depth > 0:
                    _text.Append("<xsl:copy>");
                    AddContent(depth - 1, applies);
                    _text.Append("</xsl:copy>");
                    applies = 0;
                    break;
                case 3 or 4 when depth > 0:
                    AddElement(depth, applies);
                    applies = 0;
                    break;
                case 5 when _random.Next(12) == 0:
                    _text.Append(
                        Pick([
                            "<xsl:value-of select='.'/>",
                            "<xsl:copy-of select='.'/>",
                            "<xsl:attribute name='z'>1</xsl:attribute>",
                            "<xsl:comment>c</xsl:comment>",
                            "<xsl:text></xsl:text>",
                        ])
                    );
                    break;
                default:
                    if (applies-- > 0)
                        _text.Append(
                            $"<xsl:apply-templates{Selects[_random.Next(15) == 0 ? _random.Next(Selects.Length) : _random.Next(Selects.Length - 2)]}/>"
                        );
                    else if (_random.Next(8) == 0)
                        _text.Append("<xsl:apply-templates select='@*'/>");
                    break;
            }
        }
    }

    private void AddElement(int depth, int applies)
    {
        var name = Pick(["n", "m", "p:n", "q:m", "html"]);
        _text.Append($"<{name}{Pick(Namespaces)}{Pick(["", "", " k='1'", " x='a&lt;b&#10;'", " p:x='2'", " k='{@x}'"])}>");
        AddContent(depth - 1, applies);
        _text.Append($"</{name}>");
    }

    private string Pick(string[] choices) => choices[_random.Next(choices.Length)];
}
