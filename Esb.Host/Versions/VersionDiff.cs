using System.Security.Cryptography;
using System.Text;
using DiffPlex;
using DiffPlex.DiffBuilder;
using DiffPlex.DiffBuilder.Model;
using Esb.Core.Storage;

namespace Esb.Host.Versions;

/// <summary>The lines that differ between two contents of a configuration, as a unified diff.</summary>
internal static class VersionDiff
{
    private const int Context = 3;

    private static readonly UTF8Encoding Utf8 = new(false, throwOnInvalidBytes: true);

    /// <summary>The lines, each with its sign: <c>-</c>, <c>+</c>, or a blank for the lines around a change; none if nothing
    /// differs.</summary>
    public static IReadOnlyList<string> Lines(ConfigurationContent from, ConfigurationContent to)
    {
        var (old, changed) = (TextsOf(from), TextsOf(to));
        return
        [
            .. old
                .Keys.Union(changed.Keys)
                .Order(StringComparer.Ordinal)
                .SelectMany(name => Lines(name, old.GetValueOrDefault(name), changed.GetValueOrDefault(name))),
        ];
    }

    private static IEnumerable<string> Lines(string name, string? from, string? to)
    {
        if (from == to)
            return [];
        string[] head = [$"--- {(from is null ? "(none)" : name)}", $"+++ {(to is null ? "(none)" : name)}"];
        return head.Concat(Hunks(InlineDiffBuilder.Diff(from ?? "", to ?? "", ignoreWhiteSpace: false).Lines));
    }

    private static IEnumerable<string> Hunks(List<DiffPiece> lines)
    {
        var shown = new bool[lines.Count];
        for (var i = 0; i < lines.Count; i++)
        {
            for (
                var near = Math.Max(0, i - Context);
                lines[i].Type != ChangeType.Unchanged && near <= Math.Min(lines.Count - 1, i + Context);
                near++
            )
                shown[near] = true;
        }

        for (var (i, line) = (0, 0); i < lines.Count; i++)
        {
            if (lines[i].Type != ChangeType.Deleted)
                line++;
            if (!shown[i])
                continue;
            if (i == 0 || !shown[i - 1])
                yield return $"@@ line {Math.Max(1, line)} @@";
            yield return $"{SignOf(lines[i].Type)}{lines[i].Text}";
        }
    }

    private static char SignOf(ChangeType type) =>
        type switch
        {
            ChangeType.Inserted => '+',
            ChangeType.Deleted => '-',
            _ => ' ',
        };

    private static Dictionary<string, string> TextsOf(ConfigurationContent content) =>
        content.Files.Concat(content.Contents.Select(one => KeyValuePair.Create(one.Key, TextOf(one.Value)))).ToDictionary();

    private static string TextOf(byte[] bytes)
    {
        try
        {
            return Utf8.GetString(bytes);
        }
        catch (DecoderFallbackException)
        {
            return $"{bytes.Length} bytes, no UTF-8, SHA-256 {Convert.ToHexStringLower(SHA256.HashData(bytes))}";
        }
    }
}
