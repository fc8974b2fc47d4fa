using System.Globalization;
using System.Text;
using System.Xml;
using Esb.Core.Messages;

namespace Esb.Audit.Journeys.Drawing;

/// <summary>A sequence diagram as SVG that needs nothing else: no script, no style sheet, no font from elsewhere.</summary>
public static class SvgDrawing
{
    private const string Namespace = "http://www.w3.org/2000/svg";
    private const int MaxRemark = 160;

    private static readonly XmlWriterSettings Settings = new()
    {
        OmitXmlDeclaration = true,
        Indent = true,
        NewLineChars = "\n",
        Encoding = new UTF8Encoding(encoderShouldEmitUTF8Identifier: false),
    };

    /// <summary>The picture; the same journey always gives the same text.</summary>
    public static string Draw(Journey journey)
    {
        var diagram = SequenceDrawing.Of(journey);
        var layout = new SvgLayout(diagram);
        var text = new StringBuilder();
        using (var xml = XmlWriter.Create(text, Settings))
        {
            xml.WriteStartElement("svg", Namespace);
            Set(
                xml,
                ("viewBox", $"0 0 {layout.Width} {layout.Height}"),
                ("width", $"{layout.Width}"),
                ("height", $"{layout.Height}"),
                ("font-family", "Helvetica, Arial, sans-serif"),
                ("font-size", "11")
            );
            Element(xml, "rect", ("width", $"{layout.Width}"), ("height", $"{layout.Height}"), ("fill", "#ffffff"));
            Text(xml, 12, 20, "start", "#222222", diagram.Summary, MaxRemark);
            for (var index = 0; index < diagram.Participants.Count; index++)
                DrawLifeline(xml, layout, index, diagram.Participants[index]);
            for (var index = 0; index < diagram.Arrows.Count; index++)
                SvgArrow.Draw(xml, layout, index, diagram.Arrows[index]);
            for (var index = 0; index < diagram.Remarks.Count; index++)
                Text(xml, 12, layout.RemarkAt(index), "start", "#8a5a00", diagram.Remarks[index], MaxRemark);
            xml.WriteEndElement();
        }

        return text.Append('\n').ToString();
    }

    internal static void Text(XmlWriter xml, double x, double y, string anchor, string color, string text, int maxLength)
    {
        xml.WriteStartElement("text", Namespace);
        Set(xml, ("x", Number(x)), ("y", Number(y)), ("text-anchor", anchor), ("fill", color));
        xml.WriteString(SafeText.Of(text, maxLength));
        xml.WriteEndElement();
    }

    internal static void Element(XmlWriter xml, string name, params ReadOnlySpan<(string Name, string Value)> attributes)
    {
        xml.WriteStartElement(name, Namespace);
        Set(xml, attributes);
        xml.WriteEndElement();
    }

    internal static string Number(double value) => value.ToString("0.#", CultureInfo.InvariantCulture);

    private static void DrawLifeline(XmlWriter xml, SvgLayout layout, int index, Participant participant)
    {
        var x = layout.LifelineAt(index);
        Element(
            xml,
            "line",
            ("x1", Number(x)),
            ("y1", $"{SvgLayout.HeadBottom}"),
            ("x2", Number(x)),
            ("y2", $"{layout.LifelineEnd}"),
            ("stroke", "#b0b0b0"),
            ("stroke-dasharray", "3 3")
        );
        Element(
            xml,
            "rect",
            ("x", Number(x - (SvgLayout.HeadWidth / 2.0))),
            ("y", $"{SvgLayout.HeadTop}"),
            ("width", $"{SvgLayout.HeadWidth}"),
            ("height", $"{SvgLayout.HeadBottom - SvgLayout.HeadTop}"),
            ("rx", "4"),
            ("fill", ColorOf(participant.Kind)),
            ("stroke", "#606060")
        );
        Text(xml, x, SvgLayout.HeadTop + 18, "middle", "#000000", participant.Name, SvgLayout.HeadCharacters);
        Text(
            xml,
            x,
            SvgLayout.HeadTop + 33,
            "middle",
            "#555555",
            participant.Hosts.Count > 0 ? string.Join(", ", participant.Hosts) : JourneyWords.Of(participant.Kind),
            SvgLayout.HeadCharacters
        );
    }

    private static string ColorOf(ParticipantKind kind) =>
        kind switch
        {
            ParticipantKind.Sender or ParticipantKind.Operator => "#f3f3f3",
            ParticipantKind.Entry => "#dcebfa",
            ParticipantKind.Process => "#e6f4e1",
            ParticipantKind.Topic => "#fdf1d3",
            ParticipantKind.DeadLetters => "#f9dedc",
            _ => "#e3def5",
        };

    private static void Set(XmlWriter xml, params ReadOnlySpan<(string Name, string Value)> attributes)
    {
        foreach (var (name, value) in attributes)
            xml.WriteAttributeString(name, value);
    }
}
