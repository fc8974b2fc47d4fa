namespace Esb.Core.Configuration;

/// <summary>Where a configured value came from.</summary>
/// <param name="Source">A file, <c>environment variable NAME</c>, or <c>default</c>.</param>
/// <param name="Line">1-based line in the file; 0 where it has none.</param>
/// <param name="Column">1-based column in the line, in characters; 0 where it has none.</param>
/// <param name="Folder">What relative paths in the value are relative to; null means the working directory.</param>
public sealed record ConfigOrigin(string Source, int Line = 0, int Column = 0, string? Folder = null)
{
    /// <summary>Of values that nobody wrote.</summary>
    public static readonly ConfigOrigin Default = new("default");

    /// <summary>The full path of a file or folder that a value here names; null where the text can be none.</summary>
    public string? Locate(string path)
    {
        if (path.Length == 0 || path.Contains('\0', StringComparison.Ordinal)) return null;
        return Path.GetFullPath(path, Folder ?? Directory.GetCurrentDirectory());
    }

    /// <inheritdoc/>
    public override string ToString() => Line == 0 ? Source : $"{Source}:{Line}:{Column}";
}
