namespace Esb.IntegrationTests.Adapters;

/// <summary>A folder of this machine.</summary>
internal abstract class FileSystem : AdapterSystem
{
    public override bool IsRemote => false;

    protected DirectoryInfo Folder { get; } = Directory.CreateTempSubdirectory("esb-adapter-");

    protected override Task<int?> PrepareAsync() => Task.FromResult<int?>(null);

    protected override Task StopAsync()
    {
        Folder.Delete(recursive: true);
        return Task.CompletedTask;
    }
}

/// <summary>Files that are taken from a folder.</summary>
internal sealed class FileInboundSystem : FileSystem
{
    public override bool IsInbound => true;

    public override string Endpoint(string credential) =>
        $$"""
            "type": "file-inbound", "folder": "{{Folder.FullName}}", "interval": "100ms", "maxConcurrentCalls": {{AtOnce}}
            """;

    public override async Task PutAsync(int number, CancellationToken cancellationToken)
    {
        var path = Path.Combine(Folder.FullName, $"{number:000000}.json");
        await File.WriteAllTextAsync($"{path}.part", BodyOf(number), cancellationToken);
        File.Move($"{path}.part", path);
    }

    public override async Task PutManyAsync(int count, CancellationToken cancellationToken)
    {
        for (var number = 0; number < count; number++)
            await PutAsync(number, cancellationToken);
    }
}

/// <summary>Files that are written into a folder.</summary>
internal sealed class FileOutboundSystem : FileSystem
{
    public override bool IsInbound => false;

    public override string Endpoint(string credential) =>
        $$"""
            "type": "file-outbound", "folder": "{{Folder.FullName}}", "fileName": "{message.id}.json"
            """;

    public override async Task<IReadOnlyList<Arrival>> ArrivedAsync(CancellationToken cancellationToken) =>
        await Task.WhenAll(
            Folder
                .GetFiles("*.json")
                .Where(file => file.Name[0] != '.')
                .Select(async file => ArrivalOf(file.Name, await File.ReadAllTextAsync(file.FullName, cancellationToken)))
        );
}
