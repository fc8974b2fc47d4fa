using Esb.Core.Diagnostics;

namespace Esb.Host.Commands.Documents;

/// <summary>The reference of the metrics.</summary>
internal static class MetricPage
{
    public static string Write() =>
        MarkdownPage.Write(
            "Metrics",
            "What a host exports over OTLP. How to read them, and what the API shows of them: [metrics and traces](../operate/metrics.md). "
                + "Attributes are missing where they do not apply: a party where nobody proved one, an error where there is none.",
            [
                "| Metric | Kind | Unit | What it is | Attributes |",
                "| --- | --- | --- | --- | --- |",
                .. DeclaredInstruments
                    .All.OrderBy(metric => metric.Key, StringComparer.Ordinal)
                    .Select(metric => Row(metric.Key, metric.Value)),
            ]
        );

    private static string Row(string name, MetricAttribute metric) =>
        $"| `{name}` | {KindOf(metric.Kind)} | {(metric.Unit is { } unit ? $"`{unit}`" : "–")} | {MarkdownPage.Cell(metric.Description)} | "
        + $"{string.Join(", ", metric.Tags.Select(tag => $"`{tag}`"))} |";

    private static string KindOf(MetricKind kind) =>
        kind == MetricKind.UpDownCounter ? "up-down counter" : kind.ToString().ToLowerInvariant();
}
