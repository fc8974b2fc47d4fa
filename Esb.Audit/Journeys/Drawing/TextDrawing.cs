using System.Globalization;
using System.Text;
using Esb.Core.Messages;

namespace Esb.Audit.Journeys.Drawing;

/// <summary>A journey as a tree of text, for a terminal.</summary>
public static class TextDrawing
{
    private const int MaxText = 200;
    private const int OutcomeWidth = 44;
    private const int TimeWidth = 12;

    /// <summary>The text, with lines that end in a line feed. Nothing in it steers a terminal.</summary>
    public static string Draw(Journey journey)
    {
        var text = new StringBuilder();
        Line(text, "", $"{journey.MessageId} {JourneyWords.Of(journey)}");
        Line(text, "", string.Create(CultureInfo.InvariantCulture, $"began {journey.Started.UtcDateTime:yyyy-MM-dd HH:mm:ss.fff}Z"));
        foreach (var remark in journey.Remarks)
            Line(text, "", $"note: {remark}");
        var number = 0;
        foreach (var root in journey.Roots)
            Draw(root, "", ref number, text);
        return text.ToString();
    }

    private static void Draw(JourneyMessage message, string indent, ref int number, StringBuilder text)
    {
        number++;
        Line(text, indent, string.Join("  ", HeadOf(message, number)));
        foreach (var stage in message.Stages)
        {
            Line(
                text,
                indent + "  ",
                $"{JourneyWords.Of(stage.Kind)} {NameOf(stage)}: "
                    + $"{JourneyWords.Of(stage.State)}{(stage.ReplayedAs is { } to ? $" as {to}" : "")}"
            );
            foreach (var happened in stage.Events)
                Line(text, indent + "    ", LineOf(happened));
        }

        foreach (var caused in message.Caused)
            Draw(caused, indent + "  ", ref number, text);
    }

    private static IEnumerable<string> HeadOf(JourneyMessage message, int number)
    {
        yield return $"#{number} {message.Id}";
        if (message.Subject is not null)
            yield return message.Subject;
        yield return JourneyWords.Of(message.State);
        yield return JourneyWords.Of(message.Duration);
        if (message.Party is not null)
            yield return $"party {message.Party}";
        if (message.Cause == JourneyCause.Unknown)
            yield return $"caused by {message.CausedBy}";
        if (message.Fields.Count > 0)
            yield return string.Join(' ', message.Fields.Select(field => $"{field.Key}={field.Value}"));
    }

    private static string LineOf(JourneyEvent happened)
    {
        var fact = happened.Fact;
        var took = happened.Ended - happened.Started;
        string[] cells =
        [
            $"+{JourneyWords.Of(happened.Started)}".PadRight(TimeWidth),
            SafeText.Of(JourneyWords.Of(fact), MaxText).PadRight(OutcomeWidth),
            (took > TimeSpan.Zero ? JourneyWords.Of(took) : "").PadRight(TimeWidth),
            fact.Host ?? "",
            fact.Revision ?? "",
            fact.Kind == Core.Audit.AuditKind.Replayed ? "" : fact.Reason ?? "",
        ];
        return string.Join(' ', cells).TrimEnd();
    }

    private static string NameOf(JourneyStage stage) =>
        stage.Kind switch
        {
            JourneyStageKind.Publication => stage.Events[0].Fact.Subject ?? "-",
            _ when stage.Process is not null => $"{stage.Endpoint ?? "-"} ({stage.Process})",
            _ => stage.Endpoint ?? "-",
        };

    private static void Line(StringBuilder text, string indent, string line) =>
        text.Append(indent).Append(SafeText.Of(line, 3 * MaxText)).Append('\n');
}
