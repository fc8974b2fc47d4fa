using System.Net;
using System.Net.Sockets;
using System.Text.Json;
using Esb.Host.Commands;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.IntegrationTests.Topics;
using Esb.Topics.RabbitMq;
using Esb.Topics.RabbitMq.Connections;
using RabbitMQ.Client;

namespace Esb.IntegrationTests.EndToEnd.Failing;

/// <summary>A message that kills the process as soon as it is read: its endpoint is found and kept closed, and the others go on.</summary>
[CancelAfter(180_000)]
public sealed class CrashQuarantineTests
{
    private const string Bad = "bad";
    private const string Good = "good";

    private string _prefix = "";
    private DirectoryInfo _folder = null!;
    private HostProcess? _host;
    private int _deaths;

    private string Configuration => Path.Combine(_folder.FullName, "esb.json");

    [SetUp]
    public async Task WriteConfiguration()
    {
        _folder = Directory.CreateTempSubdirectory("esb-crash-");
        _prefix = $"test-{Guid.NewGuid():N}"; // a host that is killed may leave a message that it has delivered
        await File.WriteAllTextAsync(
            Configuration,
            $$"""
            {
              "name": "crash",
              "transport": { "type": "rabbitmq", "url": "${env:ESB_RABBITMQ}", "prefix": "{{_prefix}}" },
              "topics": { "orders": {} },
              "endpoints": {
                "shop": { "type": "http-inbound", "path": "/orders", "publish": "orders.new" },
                "stranger": { "type": "http-inbound", "path": "/deadly", "publish": "orders.deadly" },
                "{{Bad}}": { "type": "file-outbound", "subscribe": ["orders.#"], "folder": {{Json(Bad)}}, "fileName": "{message.id}.json" },
                "{{Good}}": { "type": "file-outbound", "subscribe": ["orders.new"], "folder": {{Json(
                Good
            )}}, "fileName": "{message.id}.json" },
                "last": { "type": "file-outbound", "subscribe": ["orders.new"], "folder": {{Json(
                "last"
            )}}, "fileName": "{message.id}.json", "delivery": "ordered" }
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
        _folder.Delete(recursive: true);
    }

    [Test]
    public async Task Endpoint_whose_queue_kills_the_process_is_quarantined_and_the_others_go_on_until_it_is_resumed(
        CancellationToken cancellationToken
    )
    {
        await RunAsync(cancellationToken);
        await PostAsync("/orders", cancellationToken);
        await WaitForFilesAsync(Bad, 1, cancellationToken);

        await PostToTheEndAsync(cancellationToken);
        await RunUntilStableAsync(cancellationToken);
        await PostAsync("/orders", cancellationToken);
        await WaitForFilesAsync(Good, 2, cancellationToken);
        await WaitForFilesAsync("last", 2, cancellationToken);
        var (states, ready) = (await StatesAsync(cancellationToken), await ReadyAsync(cancellationToken));

        Assert.That(_deaths, Is.EqualTo(3), "where it ran, and twice at the endpoint");
        Assert.That(
            states,
            Is.EquivalentTo(new[] { "bad=quarantined", "good=running", "last=running", "shop=running", "stranger=running" })
        );
        Assert.That(ready.GetProperty("ready").GetBoolean(), Is.True);
        Assert.That(
            ready.GetProperty("notices").EnumerateArray().Select(notice => notice.GetString()),
            Has.One.StartsWith("ESB-DELIVERY-CRASH: endpoint 'bad' is quarantined")
        );
        await _host!.WaitForLogAsync(cancellationToken, "ESB-DELIVERY-CRASH: endpoint bad is quarantined");

        // A stop in order changes nothing.
        Assert.That(await _host.StopAsync(cancellationToken), Is.Zero);
        await RunAsync(cancellationToken);
        Assert.That(await StatesAsync(cancellationToken), Does.Contain("bad=quarantined"));

        await TakeDeadlyAwayAsync(cancellationToken);
        var (exitCode, _, error) = await CommandLine.RunAsync(
            _host.Folder,
            cancellationToken,
            "endpoints",
            "resume",
            Bad,
            "--url",
            _host.Management.OriginalString
        );
        await WaitForFilesAsync(Bad, 2, cancellationToken);
        await _host.WaitAsync(
            async token => (await StatesAsync(token)).Contains("bad=running"),
            TimeSpan.FromSeconds(20),
            "to run the endpoint",
            cancellationToken
        );

        Assert.That(exitCode, Is.EqualTo(ExitCode.Done), error);
        Assert.That(CountFiles(Good), Is.EqualTo(2), "nothing came twice");
    }

    [Test, Category("Thorough")]
    public async Task A_host_that_was_killed_from_outside_opens_all_its_endpoints(CancellationToken cancellationToken)
    {
        await RunAsync(cancellationToken);
        await PostAsync("/orders", cancellationToken);
        await WaitForFilesAsync(Bad, 1, cancellationToken);

        _host!.Kill();
        await _host.DisposeAsync();
        await RunAsync(cancellationToken);
        await PostAsync("/orders", cancellationToken);
        foreach (var endpoint in new[] { Bad, Good, "last" })
            await WaitForFilesAsync(endpoint, 2, cancellationToken);
        await _host.WaitAsync(
            async token => (await StatesAsync(token)).All(state => state.EndsWith("=running", StringComparison.Ordinal)),
            TimeSpan.FromSeconds(20),
            "to run all",
            cancellationToken
        );

        await _host.WaitForLogAsync(cancellationToken, "ended without being stopped");
    }

    [Test, Category("Thorough")]
    public async Task Paused_endpoint_with_messages_does_not_keep_the_others_closed(CancellationToken cancellationToken)
    {
        await RunAsync(cancellationToken);
        var (exitCode, _, error) = await CommandLine.RunAsync(
            _host!.Folder,
            cancellationToken,
            "endpoints",
            "pause",
            Bad,
            "--url",
            _host.Management.OriginalString
        );
        Assert.That(exitCode, Is.EqualTo(ExitCode.Done), error);
        for (var i = 0; i < 5; i++)
            await PostAsync("/orders", cancellationToken);
        await WaitForFilesAsync(Good, 5, cancellationToken);
        Assert.That(CountFiles(Bad), Is.Zero, "before the host is killed");

        _host.Kill();
        await RunAsync(cancellationToken);
        await _host.WaitAsync(
            async token => (await StatesAsync(token)).All(state => !state.EndsWith("=starting", StringComparison.Ordinal)),
            TimeSpan.FromSeconds(60),
            "to open every endpoint",
            cancellationToken
        );
        await PostAsync("/orders", cancellationToken);
        await WaitForFilesAsync(Good, 6, cancellationToken);
        await WaitForFilesAsync("last", 6, cancellationToken);

        await _host.WaitForLogAsync(cancellationToken, "ended without being stopped");
        Assert.That(await StatesAsync(cancellationToken), Does.Contain("bad=paused-by-operator").And.Contain("last=running"));
        Assert.That(CountFiles(Bad), Is.Zero);
    }

    private string Json(string folder) => JsonSerializer.Serialize(Path.Combine(_folder.FullName, folder));

    private HostProcess Launch() =>
        HostProcess.Launch(
            Repository.KnownBadHost,
            Configuration,
            _folder.CreateSubdirectory("host").FullName,
            new Dictionary<string, string> { ["ESB_RABBITMQ"] = Servers.RabbitMq, ["ESB_KNOWNBAD_READS"] = "orders.deadly" }
        );

    private async Task RunAsync(CancellationToken cancellationToken)
    {
        if (_host is not null)
            await _host.DisposeAsync();
        _host = Launch();
        await _host.WaitUntilReadyAsync(cancellationToken);
    }

    // The host dies of it, before or after it has answered.
    private async Task PostToTheEndAsync(CancellationToken cancellationToken)
    {
        try
        {
            using var _ = await _host!.PostAsync("/deadly", "{}", "application/json", cancellationToken);
        }
        catch (Exception ex) when (ex is HttpRequestException or SocketException)
        {
            // It died first.
        }

        await Eventually.HoldsAsync(() => _host!.HasExited, cancellationToken);
        _deaths++;
    }

    // As a supervisor does.
    private async Task RunUntilStableAsync(CancellationToken cancellationToken)
    {
        for (; ; _deaths++)
        {
            await _host!.DisposeAsync();
            _host = Launch();
            await Eventually.HoldsAsync(async () => _host.HasExited || await IsSettledAsync(cancellationToken), cancellationToken);
            if (!_host.HasExited)
                return;
        }
    }

    private async Task<bool> IsSettledAsync(CancellationToken cancellationToken)
    {
        try
        {
            return await _host!.IsReadyAsync(cancellationToken)
                && (await StatesAsync(cancellationToken)).All(state => !state.EndsWith("=starting", StringComparison.Ordinal));
        }
        catch (Exception ex) when (ex is HttpRequestException or SocketException)
        {
            return false; // not listening yet, or not any more
        }
    }

    private async Task PostAsync(string path, CancellationToken cancellationToken)
    {
        using var response = await _host!.PostAsync(path, "{}", "application/json", cancellationToken);
        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
    }

    private async Task<IReadOnlyList<string>> StatesAsync(CancellationToken cancellationToken) =>
        [
            .. (await _host!.AskAsync("/api/endpoints", cancellationToken))
                .GetProperty("items")
                .EnumerateArray()
                .Select(endpoint => $"{endpoint.GetProperty("name")}={endpoint.GetProperty("state")}"),
        ];

    private Task<JsonElement> ReadyAsync(CancellationToken cancellationToken) => _host!.AskAsync("/health/ready", cancellationToken);

    // What an operator would do: the first message goes, those behind it stay.
    private async Task TakeDeadlyAwayAsync(CancellationToken cancellationToken)
    {
        await using var connection = await RabbitMqAddress
            .Parse(Servers.RabbitMq)!
            .ToFactory("tests operator")
            .CreateConnectionAsync(cancellationToken);
        await using var channel = await connection.CreateChannelAsync(cancellationToken: cancellationToken);
        var queue = new RabbitMqNames(_prefix, "crash").Endpoint(Bad);
        while (true)
        {
            // The broker gives it back once it has noticed that the process is dead; until then the one behind it is first.
            var found = await channel.BasicGetAsync(queue, autoAck: false, cancellationToken);
            if (found?.RoutingKey == "orders.deadly")
            {
                await channel.BasicAckAsync(found.DeliveryTag, multiple: false, cancellationToken);
                return;
            }

            if (found is not null)
                await channel.BasicRejectAsync(found.DeliveryTag, requeue: true, cancellationToken);
            await Task.Delay(100, cancellationToken);
        }
    }

    private Task WaitForFilesAsync(string folder, int count, CancellationToken cancellationToken) =>
        _host!.WaitAsync(
            _ => Task.FromResult(CountFiles(folder) == count),
            TimeSpan.FromSeconds(30),
            $"to write {count} files into {folder}",
            cancellationToken
        );

    private int CountFiles(string folder)
    {
        var path = Path.Combine(_folder.FullName, folder);
        return Directory.Exists(path) ? Directory.GetFiles(path, "*.json").Length : 0;
    }
}
