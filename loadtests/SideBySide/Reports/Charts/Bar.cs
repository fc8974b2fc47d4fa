namespace SideBySide.Reports.Charts;

/// <param name="Value">In the unit of its group; 0 or above.</param>
/// <param name="Text">Stands behind the bar.</param>
/// <param name="Tone">A class of the style sheet in <see cref="BarChart"/>: "ours", "peer", "met", "missed".</param>
internal sealed record Bar(string Label, double Value, string Text, string Tone);
