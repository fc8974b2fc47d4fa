using System.Text.Json;

namespace Esb.Configuration.Reading;

/// <summary>Tells the files of a configuration from others in the same folder: <c>esb.json</c> and <c>*.esb.json</c> are
/// configuration.</summary>
public static class ConfigFolder
{
    private const string FileName = "esb.json";

    /// <summary>The configuration files of a folder, in the order of their names; none if the folder does not exist.</summary>
    public static IReadOnlyList<string> FilesOf(string folder) => [.. JsonOf(folder).Where(IsConfiguration)];

    /// <summary>The other <c>*.json</c> of a folder.</summary>
    internal static IEnumerable<string> OthersOf(string folder) => JsonOf(folder).Where(file => !IsConfiguration(file));

    /// <summary>The first of these names that a file has at its top level; null if it has none, or is no JSON object.</summary>
    internal static string? FindSection(string file, IReadOnlySet<string> sections)
    {
        try
        {
            return new FileInfo(file).Length <= ConfigText.MaxBytes ? FindSection(File.ReadAllBytes(file), sections) : null;
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            return null; // a file of someone else
        }
    }

    private static string? FindSection(ReadOnlySpan<byte> json, IReadOnlySet<string> sections)
    {
        if (json.StartsWith("\uFEFF"u8))
            json = json[3..];
        var reader = new Utf8JsonReader(
            json,
            new JsonReaderOptions { CommentHandling = JsonCommentHandling.Skip, AllowTrailingCommas = true }
        );
        try
        {
            if (!reader.Read() || reader.TokenType != JsonTokenType.StartObject)
                return null;
            while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
            {
                if (reader.GetString() is { } name && sections.Contains(name))
                    return name;
                reader.Skip();
            }
        }
        catch (Exception ex) when (ex is JsonException or InvalidOperationException)
        {
            return null; // no JSON, or a name that is no Unicode text
        }

        return null;
    }

    private static IEnumerable<string> JsonOf(string folder) =>
        Directory.Exists(folder) ? Directory.GetFiles(folder, "*.json").Order(StringComparer.Ordinal) : [];

    private static bool IsConfiguration(string file)
    {
        var name = Path.GetFileName(file);
        return name == FileName || name.EndsWith($".{FileName}", StringComparison.Ordinal);
    }
}
