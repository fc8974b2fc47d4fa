namespace Esb.Core.Configuration;

/// <summary>Origin of a configured value.</summary>
/// <param name="Source">A file, <c>environment variable NAME</c>, or <c>default</c>.</param>
/// <param name="Line">1-based line in the file; 0 if none.</param>
/// <param name="Column">1-based column in the line, in characters; 0 if none.</param>
/// <param name="Folder">Base folder of relative paths in the value; null for the working directory.</param>
/// <param name="Contents">A folder with files that precede those of <paramref name="Folder"/>; null for none.</param>
public sealed record ConfigOrigin(string Source, int Line = 0, int Column = 0, string? Folder = null, string? Contents = null)
{
    /// <summary>Origin of values that were not configured.</summary>
    public static readonly ConfigOrigin Default = new("default");

    /// <summary>Returns the full path of a file or folder that a value names; null if the text cannot be a path.</summary>
    public string? Locate(string path)
    {
        if (path.Length == 0 || path.Contains('\0', StringComparison.Ordinal))
            return null;
        if (Contents is not null && Path.GetFullPath(path, Contents) is var content && File.Exists(content))
            return content;
        return Path.GetFullPath(path, Folder ?? Directory.GetCurrentDirectory());
    }

    /// <inheritdoc/>
    public override string ToString() => Line == 0 ? Source : $"{Source}:{Line}:{Column}";
}
