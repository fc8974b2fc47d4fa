namespace SideBySide.Reports.Charts;

/// <summary>Bars of one unit: the longest fills the width.</summary>
/// <param name="Mark">Where a line is drawn, such as a goal; null for none.</param>
internal sealed record BarGroup(string Title, IReadOnlyList<Bar> Bars, double? Mark = null);
