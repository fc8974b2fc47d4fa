namespace SideBySide.Reports.Charts;

/// <summary>Bars of one unit.</summary>
/// <param name="Mark">Where a line is drawn, such as a goal; null for none.</param>
/// <param name="Scale">The value that fills the width, also for larger ones; null for the largest.</param>
internal sealed record BarGroup(string Title, IReadOnlyList<Bar> Bars, double? Mark = null, double? Scale = null);
