using System.Text;

namespace Esb.Tests.Content.Transforms;

/// <summary>A generated document: names and namespaces that stylesheets look for, declared again and again, mixed content, comments, CDATA,
/// white space.</summary>
internal sealed class SomeMarkup
{
    private static readonly string[] Names = ["a", "b", "c", "d", "p:a", "p:b", "q:a", "q:c", "html"];

    private static readonly string[] Declarations =
    [
        "",
        "",
        "",
        "",
        "",
        " xmlns:p='urn:p'",
        " xmlns:q='urn:q'",
        " xmlns='urn:d'",
        " xmlns=''",
        " xmlns:r='urn:r' xmlns:s='urn:s'",
        " xmlns:p='urn:other'",
        " xmlns:q='urn:p'",
        " xmlns:r='urn:r2'",
    ];

    private static readonly string[] Texts =
    [
        "t",
        "some text",
        " ",
        "\n  ",
        "&lt;&amp;&gt;",
        "<![CDATA[<raw>]]>",
        "x<![CDATA[]]>",
        "é€",
        "&#x1F600;",
        "'\"",
        "&#9;&#10;",
        "\r\n",
    ];

    private static readonly string[] Values = ["", "1", "a b", "&lt;&amp;&quot;", "é", "&#9;&#10;", "'"];

    private readonly StringBuilder _text = new();
    private readonly Random _random;

    public SomeMarkup(Random random)
    {
        _random = random;
        _text.Append(Pick(["", "", "<?xml version='1.0'?>\n", "<!-- first -->\n", "<?target data?>"]));
        AddElement(4, " xmlns:p='urn:p' xmlns:q='urn:q'");
        _text.Append(Pick(["", "", "\n", "<!-- last -->"]));
    }

    public string Text => _text.ToString();

    private void AddElement(int depth, string declarations)
    {
        var name = Pick(Names);
        _text.Append($"<{name}{(declarations.Length > 0 ? declarations : Pick(Declarations))}");
        foreach (var attribute in new[] { "x", "y", "p:x", "q:y", "xml:lang" }.Where(_ => _random.Next(5) == 0))
            _text.Append($" {attribute}=\"{Pick(Values)}\"");
        if (_random.Next(5) == 0)
        {
            _text.Append("/>");
            return;
        }

        _text.Append('>');
        for (var i = _random.Next(5); i > 0; i--)
            AddNode(depth);
        _text.Append($"</{name}>");
    }

    private void AddNode(int depth)
    {
        switch (_random.Next(8))
        {
            case 0:
                _text.Append(Pick(["<!-- comment -->", "<!---->", "<?pi data?>", "<?pi?>"]));
                break;
            case < 4:
                _text.Append(Pick(Texts));
                break;
            default:
                if (depth > 0)
                    AddElement(depth - 1, "");
                break;
        }
    }

    private string Pick(string[] choices) => choices[_random.Next(choices.Length)];
}
