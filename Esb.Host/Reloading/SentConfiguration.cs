using System.Text.RegularExpressions;
using Esb.Configuration.Reading;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Storage;

namespace Esb.Host.Reloading;

/// <summary>The files of a configuration, as an operator sends them.</summary>
internal sealed partial record SentConfiguration
{
    private const string Environments = "environments";

    /// <summary>The text of each file by its name, such as <c>esb.json</c> or <c>environments/test.json</c>.</summary>
    public IReadOnlyDictionary<string, string> Files { get; init; } = new Dictionary<string, string>();

    /// <summary>Reads a file, or the configuration files of a folder, and those of its environments.</summary>
    /// <exception cref="IOException">It cannot be read.</exception>
    /// <exception cref="UnauthorizedAccessException">This user may not read it.</exception>
    public static async Task<SentConfiguration> ReadAsync(string path, CancellationToken cancellationToken)
    {
        var environments = Path.Combine(Directory.Exists(path) ? path : Path.GetDirectoryName(Path.GetFullPath(path))!, Environments);
        var files = new Dictionary<string, string>();
        foreach (var file in Directory.Exists(path) ? ConfigFolder.FilesOf(path) : [path])
            files[Path.ChangeExtension(Path.GetFileName(file), ".json")] = await File.ReadAllTextAsync(file, cancellationToken);
        foreach (var file in Directory.Exists(environments) ? Directory.GetFiles(environments, "*.json") : [])
            files[$"{Environments}/{Path.GetFileName(file)}"] = await File.ReadAllTextAsync(file, cancellationToken);
        return new SentConfiguration { Files = files };
    }

    /// <summary>Writes the files into a folder, and returns what is to be read: the only file, or the folder.</summary>
    /// <exception cref="EsbException"><c>ESB-API-BODY</c>: there are none, or a name leads elsewhere.</exception>
    public async Task<string> WriteAsync(string folder, CancellationToken cancellationToken)
    {
        if (Files.Count == 0)
            throw Refused("files: expected the files of a configuration.");
        OwnerFolder.Make(Path.Combine(folder, Environments));
        foreach (var (name, text) in Files)
        {
            if (!Name().IsMatch(name))
                throw Refused($"files: {Clipped.Name(name)} is no name of a file; expected NAME.json or {Environments}/NAME.json.");
            await File.WriteAllTextAsync(Path.Combine(folder, name), text, cancellationToken);
        }

        return Files.Keys.Where(name => !name.StartsWith($"{Environments}/", StringComparison.Ordinal)).ToList() is [var only]
            ? Path.Combine(folder, only)
            : folder;
    }

    private static EsbException Refused(string message) => new("ESB-API-BODY", message, FaultKind.Malformed);

    [GeneratedRegex("^(environments/)?[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}\\.json$")]
    private static partial Regex Name();
}
