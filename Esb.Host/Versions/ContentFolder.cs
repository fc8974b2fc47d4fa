using System.Text.RegularExpressions;
using Esb.Configuration.Compiling;
using Esb.Configuration.Reading;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Storage;

namespace Esb.Host.Versions;

/// <summary>Reads the content of a configuration from a folder, and writes it into another.</summary>
internal static partial class ContentFolder
{
    private const string Environments = "environments";
    private const int MaxPath = 200;

    /// <summary>Reads a file, or the configuration files of a folder, and those of its environments; without contents such as
    /// maps.</summary>
    /// <exception cref="IOException">It cannot be read.</exception>
    /// <exception cref="UnauthorizedAccessException">This user may not read it.</exception>
    public static async Task<ConfigurationContent> ReadFilesAsync(string path, CancellationToken cancellationToken)
    {
        var environments = Path.Combine(FolderOf(path), Environments);
        var files = new Dictionary<string, string>();
        foreach (var file in Directory.Exists(path) ? ConfigFolder.FilesOf(path) : [path])
            files[Path.ChangeExtension(Path.GetFileName(file), ".json")] = await File.ReadAllTextAsync(file, cancellationToken);
        foreach (var file in Directory.Exists(environments) ? Directory.GetFiles(environments, "*.json") : [])
            files[$"{Environments}/{Path.GetFileName(file)}"] = await File.ReadAllTextAsync(file, cancellationToken);
        return new ConfigurationContent { Files = files };
    }

    /// <summary>Reads the files with the maps, schemas and other contents that were compiled of them.</summary>
    /// <param name="path">A file or a folder.</param>
    /// <param name="model">What was compiled of it.</param>
    /// <param name="outside">Receives the contents that are outside of its folder, which cannot be part of it.</param>
    /// <param name="cancellationToken">Cancels the operation.</param>
    /// <exception cref="IOException">It cannot be read.</exception>
    /// <exception cref="UnauthorizedAccessException">This user may not read it.</exception>
    public static async Task<ConfigurationContent> ReadAsync(
        string path,
        BusModel model,
        ICollection<string> outside,
        CancellationToken cancellationToken
    )
    {
        var (folder, contents) = (FolderOf(path), new Dictionary<string, byte[]>());
        foreach (var file in model.ContentPaths)
        {
            var name = Path.GetRelativePath(folder, file).Replace(Path.DirectorySeparatorChar, '/');
            if (IsInside(name))
                contents[name] = await File.ReadAllBytesAsync(file, cancellationToken);
            else
                outside.Add(file);
        }

        return await ReadFilesAsync(path, cancellationToken) with
        {
            Contents = contents,
        };
    }

    /// <summary>Writes a content into a folder, and returns what is to be read: the only JSON file, or the folder.</summary>
    /// <exception cref="EsbException"><c>ESB-API-BODY</c>: there are no files, or a name leads elsewhere.</exception>
    public static async Task<string> WriteAsync(ConfigurationContent content, string folder, CancellationToken cancellationToken)
    {
        if (content.Files.Count == 0)
            throw Refused("files: expected the files of a configuration.");
        OwnerFolder.Make(Path.Combine(folder, Environments));
        foreach (var (name, text) in content.Files)
        {
            if (!FileName().IsMatch(name))
                throw Refused($"files: {Clipped.Name(name)} is no name of a file; expected NAME.json or {Environments}/NAME.json.");
            await File.WriteAllTextAsync(Path.Combine(folder, name), text, cancellationToken);
        }

        foreach (var (name, bytes) in content.Contents)
        {
            if (!IsInside(name))
                throw Refused($"contents: {Clipped.Name(name)} is no relative path of a file inside of the configuration.");
            OwnerFolder.Make(Path.GetDirectoryName(Path.Combine(folder, name))!);
            await File.WriteAllBytesAsync(Path.Combine(folder, name), bytes, cancellationToken);
        }

        return MainOf(content) is { } only ? Path.Combine(folder, only) : folder;
    }

    /// <summary>The name of the only JSON file; null if there are several.</summary>
    public static string? MainOf(ConfigurationContent content) =>
        content.Files.Keys.Where(name => !name.StartsWith($"{Environments}/", StringComparison.Ordinal)).ToList() is [var only]
            ? only
            : null;

    private static string FolderOf(string path) =>
        Path.GetFullPath(Directory.Exists(path) ? path : Path.GetDirectoryName(Path.GetFullPath(path))!);

    private static bool IsInside(string name) =>
        name.Length is > 0 and <= MaxPath
        && !Path.IsPathRooted(name)
        && !name.Contains('\\', StringComparison.Ordinal)
        && !name.Any(char.IsControl)
        && name.Split('/').All(part => part.Length > 0 && part.Trim('.').Length > 0);

    private static EsbException Refused(string message) => new("ESB-API-BODY", message, FaultKind.Malformed);

    [GeneratedRegex("^(environments/)?[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}\\.json$")]
    private static partial Regex FileName();
}
