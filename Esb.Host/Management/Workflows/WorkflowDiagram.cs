using System.Globalization;
using System.Net;
using System.Text;
using Esb.Core.Workflows;

namespace Esb.Host.Management.Workflows;

/// <summary>Draws a definition with the place of an instance, and the number of instances on each step.</summary>
internal static class WorkflowDiagram
{
    private const int Width = 320;
    private const int Height = 44;
    private const int Gap = 26;

    /// <summary>As a flow chart of Mermaid.</summary>
    public static string Mermaid(WorkflowDescription definition, WorkflowInstance instance, IReadOnlyDictionary<string, long> counts)
    {
        var numbers = NumbersOf(definition);
        var text = new StringBuilder("flowchart TD\n");
        foreach (var place in definition.Places)
            text.Append(CultureInfo.InvariantCulture, $"    s{numbers[place.Place]}[\"{Clean(LabelOf(place, counts))}\"]\n");
        foreach (var place in definition.Places)
        {
            foreach (var next in place.Next.Where(numbers.ContainsKey))
                text.Append(CultureInfo.InvariantCulture, $"    s{numbers[place.Place]} --> s{numbers[next]}\n");
        }

        text.Append("    classDef current fill:#fd6,stroke:#960,stroke-width:3px\n");
        foreach (var step in StepsOf(instance).Where(numbers.ContainsKey))
            text.Append(CultureInfo.InvariantCulture, $"    class s{numbers[step]} current\n");
        return text.ToString();
    }

    /// <summary>As a picture: a column of steps, with arrows beside it.</summary>
    public static string Svg(WorkflowDescription definition, WorkflowInstance instance, IReadOnlyDictionary<string, long> counts)
    {
        var numbers = NumbersOf(definition);
        var current = StepsOf(instance).ToHashSet();
        var height = (definition.Places.Count * (Height + Gap)) + Gap;
        var svg = new StringBuilder();
        svg.Append(
            CultureInfo.InvariantCulture,
            $"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {Width + 160} {height}\" font-family=\"sans-serif\" "
                + $"font-size=\"12\" role=\"img\">\n"
        );
        svg.Append(
            "<defs><marker id=\"a\" markerWidth=\"8\" markerHeight=\"8\" refX=\"7\" refY=\"4\" orient=\"auto\"><path d=\"M0,0 L8,4 "
                + "L0,8 z\" fill=\"#555\"/></marker></defs>\n"
        );
        foreach (var place in definition.Places)
        {
            var top = TopOf(numbers[place.Place]);
            foreach (var next in place.Next.Where(numbers.ContainsKey))
                svg.Append(ArrowOf(numbers[place.Place], numbers[next]));
            svg.Append(
                CultureInfo.InvariantCulture,
                $"<rect x=\"20\" y=\"{top}\" width=\"{Width}\" height=\"{Height}\" rx=\"6\" "
                    + $"fill=\"{(current.Contains(place.Place) ? "#fd6" : "#eef")}\" stroke=\"#557\"/>"
            );
            svg.Append(
                CultureInfo.InvariantCulture,
                $"<text x=\"32\" y=\"{top + 27}\">{WebUtility.HtmlEncode(LabelOf(place, counts))}</text>\n"
            );
        }

        return svg.Append("</svg>\n").ToString();
    }

    private static string ArrowOf(int from, int to)
    {
        if (to == from + 1)
            return string.Create(
                CultureInfo.InvariantCulture,
                $"<path d=\"M{20 + (Width / 2)},{TopOf(from) + Height} V{TopOf(to)}\" stroke=\"#555\" fill=\"none\" "
                    + $"marker-end=\"url(#a)\"/>\n"
            );
        var (start, end) = (TopOf(from) + (Height / 2), TopOf(to) + (Height / 2));
        var reach = Width + 20 + Math.Min(130, 20 + (10 * Math.Abs(to - from)));
        return string.Create(
            CultureInfo.InvariantCulture,
            $"<path d=\"M{Width + 20},{start} C{reach},{start} {reach},{end} {Width + 20},{end}\" stroke=\"#888\" fill=\"none\" "
                + $"marker-end=\"url(#a)\"/>\n"
        );
    }

    private static int TopOf(int number) => Gap + (number * (Height + Gap));

    private static string LabelOf(WorkflowPlace place, IReadOnlyDictionary<string, long> counts)
    {
        var name = place.Place.Contains('.', StringComparison.Ordinal) ? place.Place[(place.Place.LastIndexOf('.') + 1)..] : place.Place;
        var label = name == place.Kind ? name : $"{place.Kind} {name}";
        return counts.TryGetValue(place.Place, out var count) ? string.Create(CultureInfo.InvariantCulture, $"{label} ({count})") : label;
    }

    private static Dictionary<string, int> NumbersOf(WorkflowDescription definition) =>
        definition.Places.Select((place, index) => (place.Place, index)).ToDictionary(pair => pair.Place, pair => pair.index);

    private static IEnumerable<string> StepsOf(WorkflowInstance instance) =>
        instance.State == WorkflowState.Completed ? ["end"] : instance.Step.Split(", ", StringSplitOptions.RemoveEmptyEntries);

    private static string Clean(string text) => text.Replace("\"", "#quot;", StringComparison.Ordinal);
}
