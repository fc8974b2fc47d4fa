using Esb.Core.Messages;

namespace Esb.Host;

/// <summary>Formats rows of text as columns, without borders, so that programs can read them too.</summary>
internal static class TextTable
{
    private const int MaxWidth = 60;

    public static void Write(TextWriter output, IEnumerable<string[]> rows)
    {
        // keys and reasons are external
        var all = rows.Select(row => Array.ConvertAll(row, cell => SafeText.Of(cell, int.MaxValue))).ToList();
        if (all.Count == 0)
            return;
        var widths = Enumerable.Range(0, all[0].Length).Select(column => Math.Min(MaxWidth, all.Max(row => row[column].Length))).ToArray();
        foreach (var row in all)
            output.WriteLine(string.Join("  ", row.Select((cell, column) => cell.PadRight(widths[column]))).TrimEnd());
    }
}
