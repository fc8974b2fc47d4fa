using System.Xml;
using Esb.Core.Messages;
using static Esb.Audit.Journeys.Drawing.SvgDrawing;

namespace Esb.Audit.Journeys.Drawing;

/// <summary>An arrow of a picture: a line with a head, what it says above it, and when at the left.</summary>
internal static class SvgArrow
{
    private const int Loop = 22;
    private const int Head = 7;
    private const int MaxTooltip = 400;

    public static void Draw(XmlWriter xml, SvgLayout layout, int row, Arrow arrow)
    {
        var (from, to, y) = (layout.LifelineAt(arrow.From), layout.LifelineAt(arrow.To), layout.RowAt(row));
        var color = arrow.Line == ArrowLine.Failed ? "#b3261e" : "#1a4b8c";
        xml.WriteStartElement("g", "http://www.w3.org/2000/svg");
        xml.WriteElementString("title", "http://www.w3.org/2000/svg", SafeText.Of(arrow.Text, MaxTooltip));
        Text(xml, 12, y, "start", "#666666", $"+{JourneyWords.Of(arrow.At)}", SvgLayout.HeadCharacters);
        if (arrow.From == arrow.To)
            DrawLoop(xml, from, y, color, arrow);
        else
            DrawLine(xml, from, to, y, color, arrow);
        xml.WriteEndElement();
    }

    private static void DrawLine(XmlWriter xml, double from, double to, double y, string color, Arrow arrow)
    {
        var side = to > from ? -1 : 1;
        Path(xml, $"M{Number(from)} {Number(y)} H{Number(to)}", color, arrow.Line == ArrowLine.Dashed);
        Path(xml, HeadAt(to, y, side, arrow.Line), color, isDashed: false);
        Text(xml, Math.Min(from, to) + 8, y - 5, "start", color, arrow.Text, SvgLayout.ArrowCharacters);
    }

    private static void DrawLoop(XmlWriter xml, double x, double y, string color, Arrow arrow)
    {
        Path(xml, $"M{Number(x)} {Number(y - 9)} h{Loop - 10} v9 H{Number(x)}", color, isDashed: false);
        Path(xml, HeadAt(x, y, 1, arrow.Line), color, isDashed: false);
        Text(xml, x + Loop - 5, y - 1, "start", color, arrow.Text, SvgLayout.ArrowCharacters);
    }

    private static string HeadAt(double x, double y, int side, ArrowLine line) =>
        line == ArrowLine.Failed
            ? $"M{Number(x + (side * 10))} {Number(y - 4)} l8 8 m0 -8 l-8 8"
            : $"M{Number(x + (side * Head))} {Number(y - 4)} L{Number(x)} {Number(y)} L{Number(x + (side * Head))} {Number(y + 4)}";

    private static void Path(XmlWriter xml, string path, string color, bool isDashed) =>
        Element(
            xml,
            "path",
            [
                ("d", path),
                ("fill", "none"),
                ("stroke", color),
                .. isDashed ? [("stroke-dasharray", "6 4")] : Array.Empty<(string, string)>(),
            ]
        );
}
