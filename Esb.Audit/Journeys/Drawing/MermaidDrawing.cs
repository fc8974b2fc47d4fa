using System.Globalization;
using System.Text;
using System.Text.RegularExpressions;
using Esb.Core.Messages;

namespace Esb.Audit.Journeys.Drawing;

/// <summary>A sequence diagram as text of Mermaid (https://mermaid.js.org/syntax/sequenceDiagram.html).</summary>
public static partial class MermaidDrawing
{
    private const int MaxText = 120;

    /// <summary>The text, with lines that end in a line feed. Names that came from outside cannot break out of their places.</summary>
    public static string Draw(Journey journey)
    {
        var diagram = SequenceDrawing.Of(journey);
        var text = new StringBuilder("sequenceDiagram\n");
        for (var index = 0; index < diagram.Participants.Count; index++)
        {
            var participant = diagram.Participants[index];
            var sort = participant.Kind is ParticipantKind.Sender or ParticipantKind.Operator ? "actor" : "participant";
            text.Append(CultureInfo.InvariantCulture, $"    {sort} p{index} as {Escape(NameOf(participant))}\n");
        }

        foreach (var arrow in diagram.Arrows)
            text.Append(
                CultureInfo.InvariantCulture,
                $"    p{arrow.From}{HeadOf(arrow.Line)}p{arrow.To}: +{JourneyWords.Of(arrow.At)} {Escape(arrow.Text)}\n"
            );
        foreach (var remark in diagram.Remarks.Prepend(diagram.Summary))
            text.Append(
                CultureInfo.InvariantCulture,
                $"    Note over p0{(diagram.Participants.Count > 1 ? $",p{diagram.Participants.Count - 1}" : "")}: {Escape(remark)}\n"
            );
        return text.ToString();
    }

    private static string NameOf(Participant participant) =>
        participant.Hosts.Count == 0 ? participant.Name : $"{participant.Name} ({string.Join(", ", participant.Hosts)})";

    private static string HeadOf(ArrowLine line) =>
        line switch
        {
            ArrowLine.Dashed => "-->>",
            ArrowLine.Failed => "-x",
            _ => "->>",
        };

    // Whatever might mean something to Mermaid, or to the page that shows it, is written as a number; so is a letter of "end", which ends
    // blocks.
    private static string Escape(string text)
    {
        var escaped = new StringBuilder();
        foreach (var rune in SafeText.Of(text, MaxText).EnumerateRunes())
        {
            if (Rune.IsLetterOrDigit(rune) || rune.Value is ' ' or '.' or ',' or '-' or '_' or '/' or '(' or ')' or '+' or '=' or '…')
                escaped.Append(rune);
            else
                escaped.Append(CultureInfo.InvariantCulture, $"#{rune.Value};");
        }

        return InsideEnd().Replace(escaped.ToString(), letter => $"#{(int)letter.Value[0]};");
    }

    [GeneratedRegex("(?<=e)n(?=d)", RegexOptions.IgnoreCase | RegexOptions.CultureInvariant)]
    private static partial Regex InsideEnd();
}
