using System.Text;

namespace SideBySide.Reports;

/// <summary>A table of a page.</summary>
internal static class MarkdownTable
{
    public static string Write(IReadOnlyList<string> head, IEnumerable<IReadOnlyList<string>> lines)
    {
        var text = new StringBuilder();
        Append(text, head);
        Append(text, [.. head.Select(_ => "---")]);
        foreach (var line in lines)
            Append(text, line);
        return text.ToString();
    }

    private static void Append(StringBuilder text, IReadOnlyList<string> cells) =>
        text.Append("| ").AppendJoin(" | ", cells.Select(Cell)).Append(" |\n");

    // A cell is one line, and a bar would end it.
    private static string Cell(string text) => text.ReplaceLineEndings(" ").Replace("|", "\\|", StringComparison.Ordinal);
}
