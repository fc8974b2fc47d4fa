namespace SideBySide.Reports;

/// <summary>The part of a page that is written by the program; what people wrote around it stays.</summary>
internal static class PerformancePage
{
    public const string Begin = "<!-- Written by loadtests/compare: begin -->";
    public const string End = "<!-- Written by loadtests/compare: end -->";

    /// <returns>The page with the new part in place of the old one, or behind everything where it had none.</returns>
    public static string Replace(string page, string part)
    {
        var (begin, end) = (page.IndexOf(Begin, StringComparison.Ordinal), page.IndexOf(End, StringComparison.Ordinal));
        var written = $"{Begin}\n{part.Trim()}\n{End}";
        return begin < 0 || end < begin ? $"{page.TrimEnd()}\n\n{written}\n" : $"{page[..begin]}{written}{page[(end + End.Length)..]}";
    }
}
