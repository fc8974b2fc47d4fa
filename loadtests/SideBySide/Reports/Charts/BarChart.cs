using System.Globalization;
using System.Security;
using System.Text;

namespace SideBySide.Reports.Charts;

/// <summary>Horizontal bars as SVG, legible on light and on dark pages.</summary>
internal static class BarChart
{
    private const int Width = 860;
    private const int LabelWidth = 400;
    private const int BarWidth = 370;
    private const int Line = 22;

    private const string Style = """
        text { font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #1f2328; }
        .title { font-weight: 600; }
        .figure { text-anchor: end; }
        .ours { fill: #2f81f7; } .peer { fill: #8b949e; } .met { fill: #2da44e; } .missed { fill: #d4731c; }
        .mark { stroke: #1f2328; stroke-width: 1.5; stroke-dasharray: 3 3; }
        @media (prefers-color-scheme: dark) { text { fill: #e6edf3; } .mark { stroke: #e6edf3; } }
        """;

    /// <param name="title">Read aloud in place of the picture, and its first line.</param>
    public static string Write(string title, IReadOnlyList<BarGroup> groups)
    {
        var height = (2 * Line) + groups.Sum(group => (group.Bars.Count + 2) * Line);
        var svg = new StringBuilder();
        svg.Append(
            CultureInfo.InvariantCulture,
            $"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {Width} {height}\" role=\"img\" aria-label=\"{Escape(title)}\">\n"
        );
        svg.Append(CultureInfo.InvariantCulture, $"<style>\n{Style}\n</style>\n");
        AppendText(svg, 0, 15, title, "title");
        var top = 2 * Line;
        foreach (var group in groups)
            top = Append(svg, group, top);
        return svg.Append("</svg>\n").ToString();
    }

    private static int Append(StringBuilder svg, BarGroup group, int top)
    {
        AppendText(svg, 0, top + 15, group.Title, "title");
        var first = top += Line;
        var longest = group.Scale ?? group.Bars.Max(bar => bar.Value);
        var unit = longest > 0 ? BarWidth / longest : 0;
        foreach (var bar in group.Bars)
        {
            var length = Math.Clamp(bar.Value * unit, 1, BarWidth);
            AppendText(svg, 0, top + 15, bar.Label, "");
            svg.Append(
                CultureInfo.InvariantCulture,
                $"<rect class=\"{bar.Tone}\" x=\"{LabelWidth}\" y=\"{top + 3}\" width=\"{length:0.#}\" height=\"{Line - 6}\" rx=\"2\"/>\n"
            );
            AppendText(svg, Width, top + 15, bar.Text, "figure");
            top += Line;
        }

        if (group.Mark is { } mark)
        {
            var x = LabelWidth + (mark * unit);
            svg.Append(CultureInfo.InvariantCulture, $"<line class=\"mark\" x1=\"{x:0.#}\" y1=\"{first}\" x2=\"{x:0.#}\" y2=\"{top}\"/>\n");
        }

        return top + Line;
    }

    private static void AppendText(StringBuilder svg, double x, double y, string text, string kind) =>
        svg.Append(
            CultureInfo.InvariantCulture,
            $"<text{(kind.Length > 0 ? $" class=\"{kind}\"" : "")} x=\"{x:0.#}\" y=\"{y:0.#}\">{Escape(text)}</text>\n"
        );

    private static string Escape(string text) => SecurityElement.Escape(text);
}
