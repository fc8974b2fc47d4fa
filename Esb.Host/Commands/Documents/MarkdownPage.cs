namespace Esb.Host.Commands.Documents;

/// <summary>A page of generated Markdown.</summary>
internal static class MarkdownPage
{
    public static string Write(string title, string introduction, IEnumerable<string> lines)
    {
        var text = string.Join('\n', lines).Trim('\n');
        return $"# {title}\n\nWritten by `esb docs`, and compared by a test. {introduction}\n\n{text}\n";
    }

    /// <summary>A text within a cell of a table.</summary>
    public static string Cell(string? text) => (text ?? "").Replace("|", "\\|", StringComparison.Ordinal).ReplaceLineEndings(" ");
}
