using System.Text;

namespace Esb.Tests.Content.Scanning;

/// <summary>Makes well-formed documents of few names, so that paths often meet, with everything that parts or joins text.</summary>
internal sealed class SomeDocuments(Random random)
{
    private static readonly string[] Names = ["a", "b", "c", "p:a", "p:b"];
    private static readonly string[] Texts = ["x", "y", "10", " 7 ", "-3.5", "", "x y", "&lt;&#65;", "\n  ", "äö😀"];

    public byte[] Next()
    {
        var text = new StringBuilder(random.Next(2) == 0 ? "<?xml version=\"1.0\"?>\n<!-- before -->\n" : "");
        Element(text, 0);
        return Encoding.UTF8.GetBytes(text.Append(random.Next(4) == 0 ? "\n<?after it?>\n" : "").ToString());
    }

    private void Element(StringBuilder text, int depth)
    {
        var name = random.GetItems(Names, 1)[0];
        text.Append('<').Append(name);
        if (depth == 0)
            text.Append(" xmlns:p=\"urn:p\"");
        else if (random.Next(8) == 0)
            text.Append(" xmlns=\"urn:p\"");
        foreach (var attribute in random.GetItems(Names, random.Next(3)).Distinct())
            text.Append($" {attribute}=\"{random.GetItems(Texts, 1)[0]}\"");
        var children = depth >= 5 ? 0 : random.Next(5);
        if (children == 0 && random.Next(2) == 0)
        {
            text.Append("/>");
            return;
        }

        text.Append('>');
        for (var i = 0; i < children; i++)
            Child(text, depth);
        text.Append("</").Append(name).Append('>');
    }

    private void Child(StringBuilder text, int depth)
    {
        switch (random.Next(8))
        {
            case 0:
                text.Append("<!-- no text -->");
                break;
            case 1:
                text.Append("<![CDATA[").Append(random.Next(3) == 0 ? "" : "<x>").Append("]]>");
                break;
            case 2:
                text.Append("<?a b?>");
                break;
            case 3 or 4:
                text.Append(random.GetItems(Texts, 1)[0]);
                break;
            default:
                Element(text, depth + 1);
                break;
        }
    }
}
