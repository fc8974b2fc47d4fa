using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.IntegrationTests.Sftp;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>A host that takes files from one folder of an OpenSSH server to another, over kills of itself and of the server.</summary>
[CancelAfter(240_000)]
public sealed class SftpTests
{
    private const int Files = 120;

    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(90);

    private DirectoryInfo _folder = null!;
    private SshServer _server = null!;
    private HostProcess? _host;

    [SetUp]
    public async Task WriteConfiguration()
    {
        var prefix = $"test-{Guid.NewGuid():N}";
        _folder = Directory.CreateTempSubdirectory("esb-sftp-");
        _server = await SshServer.StartAsync();
        Directory.CreateDirectory(_server.At("in"));
        Directory.CreateDirectory(_server.At("out"));
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            $$"""
            {
              "name": "sftp-{{prefix[^6..]}}",
              "transport": { "type": "rabbitmq", "url": "${env:ESB_RABBITMQ}", "prefix": "{{prefix}}" },
              "store": { "type": "postgres", "connection": "${env:ESB_POSTGRES}", "schema": "{{prefix.Replace('-', '_')}}" },
              "topics": { "files": {} },
              "endpoints": {
                "partner": {
                  "type": "sftp-inbound", "url": "{{_server.Url}}/in", "privateKey": "${env:SFTP_KEY}", "hostKey": "{{_server.HostKey}}", "interval": "100ms",
                  "maxConcurrentCalls": 4, "poolSize": 4, "publish": "files.in"
                },
                "archive": {
                  "type": "sftp-outbound", "subscribe": ["files.#"], "url": "{{_server.Url}}/out", "privateKey": "${env:SFTP_KEY}", "hostKey": "{{_server.HostKey}}",
                  "fileName": "{header.x-file-name}-{message.id}", "poolSize": 4, "processingThreads": 4, "retry": { "immediate": 1, "delays": ["500ms", "2s", "5s"] }
                }
              }
            }
            """
        );
    }

    [TearDown]
    public async Task StopHost()
    {
        if (_host is not null)
            await _host.DisposeAsync();
        await _server.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test]
    public async Task File_goes_from_folder_to_folder(CancellationToken cancellationToken)
    {
        await StartAsync(cancellationToken);

        await _server.PutAsync("in/order.xml", "<order>Käse</order>", cancellationToken);
        await _host!.WaitAsync(_ => Task.FromResult(Written().Length == 1 && Left() == 0), Limit, "to copy the file", cancellationToken);

        Assert.That(await File.ReadAllTextAsync(Written()[0], cancellationToken), Is.EqualTo("<order>Käse</order>"));
    }

    [Test, Category("Faults")]
    public async Task No_file_is_lost_over_kills_of_host_and_server_and_copies_have_one_id(CancellationToken cancellationToken)
    {
        for (var i = 0; i < Files; i++)
            await _server.PutAsync($"in/{i:000}.xml", $"<order>{i}</order>", cancellationToken);
        for (var kill = 1; kill <= 3; kill++)
        {
            await StartAsync(cancellationToken);
            var enough = kill * Files / 6;
            await _host!.WaitAsync(_ => Task.FromResult(Written().Length >= enough), Limit, $"to copy {enough} files", cancellationToken);
            await _server.KillAsync();
            await _server.StartAgainAsync();
            await _host.WaitAsync(
                _ => Task.FromResult(Written().Length >= enough + 5),
                Limit,
                "to go on after the server was killed",
                cancellationToken
            );
            _host.Kill();
            await _host.DisposeAsync();
        }

        await StartAsync(cancellationToken);
        await _host!.WaitAsync(
            _ => Task.FromResult(Written().Length >= Files && Left() == 0),
            Limit,
            "to copy all files",
            cancellationToken
        );

        var bodies = await Task.WhenAll(Written().Select(file => File.ReadAllTextAsync(file, cancellationToken)));
        Assert.That(
            bodies,
            Is.EquivalentTo(Enumerable.Range(0, Files).Select(i => $"<order>{i}</order>")),
            "a copy has the id of the first, and so its name"
        );
    }

    private async Task StartAsync(CancellationToken cancellationToken) =>
        _host = await HostProcess.StartAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            _folder.CreateSubdirectory("host").FullName,
            cancellationToken,
            new Dictionary<string, string>
            {
                ["ESB_RABBITMQ"] = Servers.RabbitMq,
                ["ESB_POSTGRES"] = Servers.Postgres,
                ["SFTP_KEY"] = _server.PrivateKey,
            }
        );

    private string[] Written() => [.. Directory.GetFiles(_server.At("out")).Where(file => Path.GetFileName(file)[0] != '.')];

    private int Left() =>
        Directory.GetFiles(_server.At("in"), "*", new EnumerationOptions { RecurseSubdirectories = true, AttributesToSkip = 0 }).Length;
}
