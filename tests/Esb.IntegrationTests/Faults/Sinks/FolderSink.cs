using System.Security.Cryptography;
using System.Text.Json.Nodes;
using Esb.IntegrationTests.Faults.Checking;

namespace Esb.IntegrationTests.Faults.Sinks;

/// <summary>A folder that a file-outbound endpoint writes to; the files are its ledger, each named after its message.</summary>
internal sealed class FolderSink : ISink
{
    public FolderSink(string endpoint, string folder, SinkPromises promises, JsonObject settings)
    {
        (Endpoint, Promises, Configuration) = (endpoint, promises, settings);
        Path = System.IO.Path.Combine(folder, endpoint);
        settings["type"] = "file-outbound";
        settings["subscribe"] ??= new JsonArray("work.#");
        settings["folder"] = Path;
        settings["fileName"] ??= $"{{header.{FaultHeaders.Id}}}.txt";
    }

    public string Path { get; }

    public string Endpoint { get; }

    public SinkPromises Promises { get; }

    public JsonObject Configuration { get; }

    public async Task<IReadOnlyList<SinkEntry>> ReadAsync(CancellationToken cancellationToken)
    {
        var entries = new List<SinkEntry>();
        if (!Directory.Exists(Path))
            return entries;
        foreach (var file in new DirectoryInfo(Path).EnumerateFiles("*.txt").OrderBy(file => file.LastWriteTimeUtc))
        {
            var bytes = await File.ReadAllBytesAsync(file.FullName, cancellationToken);
            entries.Add(
                new SinkEntry(
                    System.IO.Path.GetFileNameWithoutExtension(file.Name),
                    Convert.ToHexStringLower(SHA256.HashData(bytes)),
                    file.LastWriteTimeUtc
                )
            );
        }

        return entries;
    }

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
