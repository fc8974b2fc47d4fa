using Esb.IntegrationTests.Sftp;

namespace Esb.IntegrationTests.Adapters;

/// <summary>An OpenSSH server.</summary>
internal abstract class SftpSystem : AdapterSystem
{
    protected SshServer Server { get; private set; } = null!;

    protected string Address(string folder) =>
        Server.Url.Replace($":{Server.Port}/", $":{Proxy.Port}/", StringComparison.Ordinal) + $"/{folder}";

    protected override async Task<int?> PrepareAsync()
    {
        Server = await SshServer.StartAsync();
        Directory.CreateDirectory(Server.At("in"));
        Directory.CreateDirectory(Server.At("out"));
        return Server.Port;
    }

    public override Task KillAsync() => Server.KillAsync();

    public override Task StartAgainAsync() => Server.StartAgainAsync();

    protected override (string Right, string Wrong) Credentials() => (Server.PrivateKey, Server.StrangerKey);

    protected override Task StopAsync() => Server.DisposeAsync().AsTask();
}

/// <summary>Files that are taken from the server.</summary>
internal sealed class SftpInboundSystem : SftpSystem
{
    public override bool IsInbound => true;

    // A file that could not be read waits for its next attempt, and others pass it.
    public override bool KeepsOrder => false;

    public override string Endpoint(string credential) =>
        $$"""
            "type": "sftp-inbound", "url": "{{Address(
                "in"
            )}}", "privateKey": "${env:{{credential}}}", "hostKey": "{{Server.HostKey}}", "interval": "100ms",
            "maxConcurrentCalls": {{AtOnce}}, "poolSize": {{AtOnce}}, "timeout": "5s"
            """;

    public override Task PutAsync(int number, CancellationToken cancellationToken) =>
        Server.PutAsync($"in/{number:000000}.json", BodyOf(number), cancellationToken);

    public override async Task PutManyAsync(int count, CancellationToken cancellationToken)
    {
        for (var number = 0; number < count; number++)
            await File.WriteAllTextAsync(Server.At("in", $"{number:000000}.json"), BodyOf(number), cancellationToken);
    }
}

/// <summary>Files that are written to the server.</summary>
internal sealed class SftpOutboundSystem : SftpSystem
{
    public override bool IsInbound => false;

    public override string Endpoint(string credential) =>
        $$"""
            "type": "sftp-outbound", "url": "{{Address(
                "out"
            )}}", "privateKey": "${env:{{credential}}}", "hostKey": "{{Server.HostKey}}", "fileName": "{message.id}.json"
            """;

    public override async Task<IReadOnlyList<Arrival>> ArrivedAsync(CancellationToken cancellationToken)
    {
        var written = new DirectoryInfo(Server.At("out"))
            .GetFiles()
            .Where(file => file.Name[0] != '.')
            .OrderBy(file => file.LastWriteTimeUtc);
        return await Task.WhenAll(
            written.Select(async file => new Arrival(file.Name, NumberIn(await File.ReadAllTextAsync(file.FullName, cancellationToken))))
        );
    }
}
