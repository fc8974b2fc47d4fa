namespace SideBySide.Reports;

internal sealed record SideSettings(string Side, string Settings);
