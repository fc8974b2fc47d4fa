using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.IntegrationTests.Faults.Nemeses;
using Esb.IntegrationTests.Sftp;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>Hosts that take files from one folder of an OpenSSH server to another, over kills of themselves and of the server.</summary>
[CancelAfter(240_000)]
public sealed class SftpTests
{
    private const int Files = 120;

    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(90);

    private DirectoryInfo _folder = null!;
    private SshServer _server = null!;
    private RunningHost? _host;

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
                  "fileName": "{header.x-file-name}-{message.id}", "poolSize": 4, "processingThreads": 4, "retry": { "immediate": 1, "delays": ["500ms", "2s", "5s", "5s", "5s"] }
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
    [OwnProcess]
    public async Task No_file_is_lost_over_kills_of_host_and_server_and_copies_have_one_id(CancellationToken cancellationToken)
    {
        await PutAllAsync(from: 0, cancellationToken);
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
        await WaitForAsync(_host!, Files, cancellationToken);

        await AssertWrittenOnceAsync(Files, cancellationToken);
    }

    [Test, Category("Thorough"), Property("Case", "FIL-15")]
    public async Task Files_wait_while_the_disk_of_the_server_is_full(CancellationToken cancellationToken)
    {
        await using var volume = await SmallVolume.MountAsync(_server.At("out"), megabytes: 4);
        await StartAsync(cancellationToken);
        await _server.PutAsync("in/000.xml", "<order>0</order>", cancellationToken);
        await _host!.WaitAsync(_ => Task.FromResult(Written().Length == 1), Limit, "to copy the first file", cancellationToken);

        int during;
        await using (await volume.FillAsync())
        {
            for (var i = 1; i < 10; i++)
                await _server.PutAsync($"in/{i:000}.xml", $"<order>{i}</order>", cancellationToken);
            await _host.WaitAsync(
                async token => (await _host.AskAsync("/api/endpoints/archive", token)).GetProperty("failures").GetInt64() > 0,
                Limit,
                "to meet the full disk",
                cancellationToken
            );
            during = Written().Length;
        }

        await WaitForAsync(_host, 10, cancellationToken);

        Assert.That(during, Is.LessThanOrEqualTo(2), "the ballast is a file, too");
        await AssertWrittenOnceAsync(10, cancellationToken);
        Assert.That(
            Directory.GetFiles(_server.At("out"), "*.part", new EnumerationOptions { AttributesToSkip = 0 }),
            Is.Empty,
            "no part is left"
        );
        Assert.That((await _host.AskAsync("/api/dead-letters", cancellationToken)).GetProperty("items").GetArrayLength(), Is.Zero);
        await _host.DisposeAsync();
        await _server.KillAsync(); // nothing uses the volume any more
    }

    [Test, Category("Faults"), Category("WaitsLong")]
    [OwnProcess]
    public async Task One_host_of_the_farm_takes_files_and_another_goes_on_when_it_is_killed(CancellationToken cancellationToken)
    {
        await StartAsync(cancellationToken);
        await using var other = await LaunchAsync("other", cancellationToken);
        RunningHost[] hosts = [_host!, other];
        await PutAllAsync(from: 0, cancellationToken);
        await WaitForAsync(other, Files / 2, cancellationToken);
        var states = await Task.WhenAll(hosts.Select(host => StateAsync(host, cancellationToken)));

        var (polling, waiting) = states[0] == "running" ? (hosts[0], hosts[1]) : (hosts[1], hosts[0]);
        await PutAllAsync(from: Files, cancellationToken);
        polling.Kill();
        await WaitForAsync(waiting, 2 * Files, cancellationToken);

        Assert.That(states, Is.EquivalentTo(new[] { "running", "standby" }));
        Assert.That(await StateAsync(waiting, cancellationToken), Is.EqualTo("running"));
        await AssertWrittenOnceAsync(2 * Files, cancellationToken);
    }

    private async Task PutAllAsync(int from, CancellationToken cancellationToken)
    {
        for (var i = from; i < from + Files; i++)
            await _server.PutAsync($"in/{i:000}.xml", $"<order>{i}</order>", cancellationToken);
    }

    private Task WaitForAsync(RunningHost host, int count, CancellationToken cancellationToken) =>
        host.WaitAsync(
            _ => Task.FromResult(Written().Length >= count && (count < Files || Left() == 0)),
            Limit,
            $"to copy {count} files",
            cancellationToken
        );

    private async Task AssertWrittenOnceAsync(int files, CancellationToken cancellationToken)
    {
        var bodies = await Task.WhenAll(Written().Select(file => File.ReadAllTextAsync(file, cancellationToken)));
        Assert.That(
            bodies,
            Is.EquivalentTo(Enumerable.Range(0, files).Select(i => $"<order>{i}</order>")),
            "a copy has the id of the first, and so its name"
        );
    }

    private static async Task<string?> StateAsync(RunningHost host, CancellationToken cancellationToken)
    {
        var endpoints = (await host.AskAsync("/api/endpoints", cancellationToken)).GetProperty("items").EnumerateArray();
        return endpoints.Single(endpoint => endpoint.GetProperty("name").GetString() == "partner").GetProperty("state").GetString();
    }

    private async Task StartAsync(CancellationToken cancellationToken) => _host = await LaunchAsync("host", cancellationToken);

    private Task<RunningHost> LaunchAsync(string name, CancellationToken cancellationToken) =>
        RunningHost.StartAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            _folder.CreateSubdirectory(name).FullName,
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
