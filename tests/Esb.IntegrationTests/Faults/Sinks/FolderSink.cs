using System.Security.Cryptography;
using System.Text.Json.Nodes;
using Esb.IntegrationTests.Faults.Checking;

namespace Esb.IntegrationTests.Faults.Sinks;

/// <summary>A folder that a file-outbound endpoint writes to; the files are its ledger, each named after its message.</summary>
internal sealed class FolderSink : ISink
{
    private readonly string _folder;

    public FolderSink(string endpoint, string folder, SinkPromises promises, JsonObject settings)
    {
        (Endpoint, Promises, Configuration) = (endpoint, promises, settings);
        _folder = Path.Combine(folder, endpoint);
        settings["type"] = "file-outbound";
        settings["subscribe"] ??= new JsonArray("work.#");
        settings["folder"] = _folder;
        settings["fileName"] ??= $"{{header.{FaultHeaders.Id}}}.txt";
    }

    public string Endpoint { get; }

    public SinkPromises Promises { get; }

    public JsonObject Configuration { get; }

    /// <summary>Files with another ending are unfinished ones, and must not be there when all is done.</summary>
    public IReadOnlyList<string> Unfinished => [.. Directory.EnumerateFiles(_folder).Where(file => !file.EndsWith(".txt", StringComparison.Ordinal))];

    public async Task<IReadOnlyList<SinkEntry>> ReadAsync(CancellationToken cancellationToken)
    {
        var entries = new List<SinkEntry>();
        if (!Directory.Exists(_folder)) return entries;
        foreach (var file in new DirectoryInfo(_folder).EnumerateFiles("*.txt").OrderBy(file => file.LastWriteTimeUtc))
        {
            var bytes = await File.ReadAllBytesAsync(file.FullName, cancellationToken);
            entries.Add(new SinkEntry(Path.GetFileNameWithoutExtension(file.Name), Convert.ToHexStringLower(SHA256.HashData(bytes)), file.LastWriteTimeUtc));
        }

        return entries;
    }

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
