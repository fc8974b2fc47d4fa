using System.Globalization;
using System.Net;
using System.Text;

namespace Esb.Host.Management.Flow;

/// <summary>Draws the flow as SVG, for documents; the console draws the same places itself.</summary>
internal static class FlowSvg
{
    private const int Shown = 24;

    private const string Style = """
        text{font:13px system-ui,sans-serif;fill:#1b1f24}.s{font-size:11px;fill:#59636e}
        rect{fill:#fff;stroke:#8c959f;rx:8}path{fill:none;stroke:#8c959f;stroke-width:1.5}
        .inbound rect{stroke:#0969da}.outbound rect{stroke:#1a7f37}.topic rect{stroke:#8250df;rx:24}
        .process rect,.workflow rect{stroke:#9a6700}
        @media(prefers-color-scheme:dark){text{fill:#e6edf3}.s{fill:#9198a1}rect{fill:#161b22}}
        """;

    public static string Draw(FlowView flow)
    {
        var svg = new StringBuilder();
        svg.Append(
            CultureInfo.InvariantCulture,
            $"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {flow.Width} {flow.Height}\" width=\"{flow.Width}\" "
                + $"height=\"{flow.Height}\" role=\"img\">"
        );
        svg.Append(
            CultureInfo.InvariantCulture,
            $"<title>{Escape($"{flow.Name}, revision {flow.Revision}")}</title><style>{Style}</style>"
        );
        svg.Append(
            "<defs><marker id=\"a\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "
                + "orient=\"auto\"><path d=\"M0 0 8 4 0 8z\" style=\"fill:#8c959f;stroke:none\"/></marker></defs>"
        );
        var nodes = flow.Nodes.ToDictionary(node => node.Id);
        foreach (var edge in flow.Edges)
            Draw(svg, nodes[edge.From], nodes[edge.To], edge);
        foreach (var node in flow.Nodes)
            Draw(svg, node);
        return svg.Append("</svg>").ToString();
    }

    private static void Draw(StringBuilder svg, FlowNodeView from, FlowNodeView to, FlowEdge edge)
    {
        var (x1, y1, x2, y2) = (
            from.X + FlowLayout.NodeWidth,
            from.Y + (FlowLayout.NodeHeight / 2),
            to.X,
            to.Y + (FlowLayout.NodeHeight / 2)
        );
        var bend = Math.Max(40, Math.Abs(x2 - x1) / 2);
        var dashes = edge.Kind == FlowEdgeKind.Calls ? " stroke-dasharray=\"5 4\"" : "";
        svg.Append(
            CultureInfo.InvariantCulture,
            $"<path d=\"M{x1} {y1}C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}\"{dashes} "
                + $"marker-end=\"url(#a)\"><title>{Escape($"{edge.Kind} {edge.Label}")}</title></path>"
        );
    }

    private static void Draw(StringBuilder svg, FlowNodeView node)
    {
        svg.Append(
            CultureInfo.InvariantCulture,
            $"<g class=\"{node.Kind.ToString().ToLowerInvariant()}\" transform=\"translate({node.X} {node.Y})\"><rect "
                + $"width=\"{FlowLayout.NodeWidth}\" height=\"{FlowLayout.NodeHeight}\"/>"
        );
        svg.Append(
            CultureInfo.InvariantCulture,
            $"<text x=\"12\" y=\"20\">{Escape(Clip(node.Name))}</text><text class=\"s\" x=\"12\" "
                + $"y=\"37\">{Escape(Clip(node.Type ?? node.Kind.ToString().ToLowerInvariant()))}</text></g>"
        );
    }

    private static string Clip(string text) => text.Length <= Shown ? text : text[..(Shown - 1)] + "…";

    private static string Escape(string text) => WebUtility.HtmlEncode(text);
}
