using System.Globalization;
using System.Security;
using System.Text;

namespace SideBySide.Flames;

/// <summary>Stacks as SVG: each box is a function, as wide as its share of the samples, above the function that called it.</summary>
internal static class FlameGraph
{
    private const int Width = 1200;
    private const int Line = 15;
    private const int Head = 2 * Line;
    private const double LetterWidth = 6.7;
    private const double LeastShare = 0.004; // of the samples; narrower boxes are left out

    private const string Style = """
        text { font: 11px ui-monospace, monospace; fill: #1f2328; pointer-events: none; }
        .title { font: 600 13px system-ui, sans-serif; }
        rect { stroke: #fff; stroke-width: 0.5; }
        .ours { fill: #f0883e; } .base { fill: #79c0ff; } .server { fill: #d2a8ff; } .kernel { fill: #c9d1d9; } .runtime { fill: #e3b341; }
        .other { fill: #7ee787; }
        @media (prefers-color-scheme: dark) { .title { fill: #e6edf3; } rect { stroke: #0d1117; } }
        """;

    public static string Write(string title, Frame root)
    {
        var depth = Depth(root, root.Samples);
        var height = Head + (depth * Line);
        var svg = new StringBuilder();
        svg.Append(
            CultureInfo.InvariantCulture,
            $"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {Width} {height}\" role=\"img\" aria-label=\"{Escape(title)}\">\n"
        );
        svg.Append(CultureInfo.InvariantCulture, $"<style>\n{Style}\n</style>\n");
        svg.Append(
            CultureInfo.InvariantCulture,
            $"<text class=\"title\" x=\"0\" y=\"{Line}\">{Escape(title)}: {root.Samples} samples; ours orange, base library blue, web "
                + $"server violet, runtime yellow, kernel grey, other libraries green</text>\n"
        );
        Append(svg, root, left: 0, bottom: height, root.Samples);
        return svg.Append("</svg>\n").ToString();
    }

    private static int Depth(Frame frame, int all) => 1 + Shown(frame, all).Select(callee => Depth(callee, all)).DefaultIfEmpty(0).Max();

    private static void Append(StringBuilder svg, Frame frame, double left, int bottom, int all)
    {
        var width = (double)Width * frame.Samples / Math.Max(all, 1);
        svg.Append(
            CultureInfo.InvariantCulture,
            $"<rect class=\"{ToneOf(frame.Module)}\" x=\"{left:0.#}\" y=\"{bottom - Line}\" width=\"{width:0.#}\" height=\"{Line}\">"
                + $"<title>{Escape(frame.Name)} ({Escape(frame.Module)}): {frame.Samples * 100.0 / Math.Max(all, 1):0.#} %</title></rect>\n"
        );
        var letters = (int)((width - 4) / LetterWidth);
        if (letters >= 4)
            svg.Append(
                CultureInfo.InvariantCulture,
                $"<text x=\"{left + 2:0.#}\" y=\"{bottom - 4}\">{Escape(frame.Name[..Math.Min(frame.Name.Length, letters)])}</text>\n"
            );
        foreach (var callee in Shown(frame, all))
        {
            Append(svg, callee, left, bottom - Line, all);
            left += (double)Width * callee.Samples / all;
        }
    }

    private static IEnumerable<Frame> Shown(Frame frame, int all) =>
        frame.Callees.Where(callee => callee.Samples >= all * LeastShare).OrderByDescending(callee => callee.Samples);

    private static string ToneOf(string module) =>
        module switch
        {
            "kernel" => "kernel",
            "esb" => "ours",
            _ when module.StartsWith("Esb.", StringComparison.Ordinal) => "ours",
            _ when module.StartsWith("Microsoft.AspNetCore", StringComparison.Ordinal) => "server",
            _ when module.StartsWith("System.", StringComparison.Ordinal) => "base",
            _ when module.StartsWith("libcoreclr", StringComparison.Ordinal) || module.StartsWith("libclr", StringComparison.Ordinal) =>
                "runtime",
            _ => "other",
        };

    private static string Escape(string text) => SecurityElement.Escape(text);
}
