using System.Net;
using System.Text.Json;
using Esb.Host.Commands;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd.Operating;

/// <summary>An operator changes endpoints under load, on one host, for all hosts of the farm.</summary>
[CancelAfter(120_000)]
public sealed class LiveTuningTests
{
    private static readonly TimeSpan Soon = TimeSpan.FromSeconds(10);

    private readonly string _prefix = $"test-{Guid.NewGuid():N}";
    private DirectoryInfo _folder = null!;
    private RunningHost _first = null!;
    private RunningHost _second = null!;

    private string Ledger => Path.Combine(_folder.FullName, "ledger");

    [OneTimeSetUp]
    public async Task StartHosts()
    {
        _folder = Directory.CreateTempSubdirectory("esb-tuning-");
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            $$"""
            {
              "name": "tuning",
              "transport": { "type": "rabbitmq", "url": "${env:ESB_RABBITMQ}", "prefix": "{{_prefix}}" },
              "store": { "type": "postgres", "connection": "${env:ESB_POSTGRES}", "schema": "{{_prefix.Replace('-', '_')}}" },
              "topics": { "orders": {} },
              "endpoints": {
                "shop": { "type": "http-inbound", "path": "/orders", "publish": "orders.new" },
                "ledger": { "type": "file-outbound", "subscribe": ["orders.#"], "folder": {{JsonSerializer.Serialize(
                Ledger
            )}}, "fileName": "{message.id}.json", "ifExists": "unique" },
                "diary": { "type": "file-outbound", "subscribe": ["orders.#"], "folder": {{JsonSerializer.Serialize(
                Path.Combine(_folder.FullName, "diary")
            )}}, "fileName": "{message.id}.json", "delivery": "ordered" }
              }
            }
            """
        );
        _first = await StartAsync("first");
        _second = await StartAsync("second");
    }

    [OneTimeTearDown]
    public async Task StopHosts()
    {
        await _first.DisposeAsync();
        await _second.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test, Category("Thorough")]
    public async Task Endpoint_is_changed_paused_and_resumed_on_all_hosts_under_load_and_nothing_is_lost_or_doubled(
        CancellationToken cancellationToken
    )
    {
        using var enough = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var load = Task.WhenAll(new[] { _first, _second }.Select(host => PostUntilAsync(host, enough.Token)));

        foreach (var size in new[] { 8, 2, 16, 1 })
        {
            Assert.That(
                await RunAsync(cancellationToken, "set", "ledger", "--pool-size", $"{size}", "--processing-threads", $"{size}"),
                Is.EqualTo(ExitCode.Done)
            );
            await WaitForAsync(_second, "poolSize", size, cancellationToken);
            await Task.Delay(500, cancellationToken);
        }

        foreach (var prefetch in new[] { 1, 200 })
        {
            Assert.That(await RunAsync(cancellationToken, "set", "ledger", "--prefetch", $"{prefetch}"), Is.EqualTo(ExitCode.Done));
            await WaitForAsync(_second, "prefetch", prefetch, cancellationToken);
            var before = CountFiles();
            await _second.WaitAsync(
                _ => Task.FromResult(CountFiles() > before),
                Soon,
                $"to deliver with prefetch {prefetch}",
                cancellationToken
            );
        }

        Assert.That(await RunAsync(cancellationToken, "pause", "ledger"), Is.EqualTo(ExitCode.Done));
        await WaitForAsync(_second, "paused", true, cancellationToken);
        await Task.Delay(1000, cancellationToken);
        var whilePaused = CountFiles();
        await Task.Delay(1000, cancellationToken);
        Assert.That(CountFiles(), Is.EqualTo(whilePaused), "a paused endpoint delivers nothing");
        Assert.That(await RunAsync(cancellationToken, "resume", "ledger"), Is.EqualTo(ExitCode.Done));

        await enough.CancelAsync();
        var accepted = (await load).Sum();
        await _first.WaitAsync(
            _ => Task.FromResult(CountFiles() >= accepted),
            TimeSpan.FromSeconds(60),
            $"to deliver {accepted} orders",
            cancellationToken
        );
        await Task.Delay(1000, cancellationToken);
        Assert.That(CountFiles(), Is.EqualTo(accepted));
        Assert.That(accepted, Is.GreaterThan(whilePaused), "it went on");
    }

    [Test, Category("Thorough")]
    public async Task What_is_tuned_outlasts_a_restart_reaches_a_host_that_joins_and_is_reset(CancellationToken cancellationToken)
    {
        Assert.That(
            await RunAsync(cancellationToken, "set", "diary", "--rate", "50", "--retry-delays", "1s", "--breaker-failures", "9"),
            Is.EqualTo(ExitCode.Done)
        );
        await _second.DisposeAsync();
        _second = await StartAsync("second");
        await using var third = await StartAsync("third");
        RunningHost[] hosts = [_first, _second, third];
        foreach (var host in hosts)
            await WaitForTunedAsync(host, "circuitBreaker, rate, retry", cancellationToken);

        Assert.That(await RunAsync(cancellationToken, "reset", "diary", "rate"), Is.EqualTo(ExitCode.Done));
        foreach (var host in hosts)
            await WaitForTunedAsync(host, "circuitBreaker, retry", cancellationToken);
        Assert.That(await RunAsync(cancellationToken, "reset", "diary"), Is.EqualTo(ExitCode.Done));
        foreach (var host in hosts)
            await WaitForTunedAsync(host, "", cancellationToken);
    }

    [Test]
    public async Task Inbound_endpoint_is_paused_and_resumed_on_all_hosts(CancellationToken cancellationToken)
    {
        Assert.That(await RunAsync(cancellationToken, "pause", "shop"), Is.EqualTo(ExitCode.Done));
        foreach (var host in new[] { _first, _second })
        {
            await WaitForStateAsync(host, "paused-by-operator", cancellationToken);
            using var answer = await host.PostAsync("/orders", "{}", "application/json", cancellationToken);
            Assert.That(
                (answer.StatusCode, answer.Headers.RetryAfter?.Delta),
                Is.EqualTo((HttpStatusCode.ServiceUnavailable, TimeSpan.FromSeconds(30))),
                host.Output
            );
        }

        Assert.That(await RunAsync(cancellationToken, "resume", "shop"), Is.EqualTo(ExitCode.Done));
        foreach (var host in new[] { _first, _second })
            await WaitForStateAsync(host, "running", cancellationToken);
    }

    [Test]
    public async Task Pool_of_an_inbound_endpoint_is_refused(CancellationToken cancellationToken)
    {
        var (exitCode, _, error) = await CommandLine.RunAsync(
            _first.Folder,
            cancellationToken,
            "endpoints",
            "set",
            "shop",
            "--pool-size",
            "4",
            "--url",
            _first.Management.OriginalString
        );

        Assert.That(exitCode, Is.EqualTo(ExitCode.Usage), error);
        Assert.That(error, Does.Contain("ESB-ENDPOINT-TUNING").And.Contain("outbound"));
    }

    [Test]
    public async Task What_contradicts_the_order_of_delivery_is_refused(CancellationToken cancellationToken)
    {
        var (exitCode, _, error) = await CommandLine.RunAsync(
            _first.Folder,
            cancellationToken,
            "endpoints",
            "set",
            "diary",
            "--processing-threads",
            "4",
            "--url",
            _first.Management.OriginalString
        );

        Assert.That(exitCode, Is.EqualTo(ExitCode.Usage), error);
        Assert.That(error, Does.Contain("ESB-ENDPOINT-TUNING").And.Contain("ordered"));
    }

    [Test]
    public async Task Endpoint_that_is_not_there_is_told_with_the_nearest_name(CancellationToken cancellationToken)
    {
        var (exitCode, _, error) = await CommandLine.RunAsync(
            _first.Folder,
            cancellationToken,
            "endpoints",
            "pause",
            "ledgr",
            "--url",
            _first.Management.OriginalString
        );

        Assert.That(exitCode, Is.EqualTo(ExitCode.Usage), error);
        Assert.That(error, Does.Contain("did you mean \"ledger\""));
    }

    private Task<RunningHost> StartAsync(string name) =>
        RunningHost.StartAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            _folder.CreateSubdirectory(name).FullName,
            CancellationToken.None,
            new Dictionary<string, string> { ["ESB_RABBITMQ"] = Servers.RabbitMq, ["ESB_POSTGRES"] = Servers.Postgres }
        );

    private static Task WaitForStateAsync(RunningHost host, string state, CancellationToken cancellationToken) =>
        host.WaitAsync(
            async token => (await host.AskAsync("/api/endpoints/shop", token)).GetProperty("state").GetString() == state,
            Soon,
            $"to show shop as {state}",
            cancellationToken
        );

    private static Task WaitForTunedAsync(RunningHost host, string settings, CancellationToken cancellationToken) =>
        host.WaitAsync(
            async token =>
                (await host.AskAsync("/api/endpoints/diary", token)).TryGetProperty("tuned", out var tuned)
                && tuned.ValueKind == JsonValueKind.Array
                    ? string.Join(", ", tuned.EnumerateArray().Select(one => one.GetProperty("setting").GetString())) == settings
                    : settings.Length == 0,
            Soon * 3,
            $"to have tuned {settings}",
            cancellationToken
        );

    private static async Task<int> PostUntilAsync(RunningHost host, CancellationToken enough)
    {
        var accepted = 0;
        while (!enough.IsCancellationRequested)
        {
            using var response = await host.PostAsync("/orders", "{}", "application/json", CancellationToken.None);
            if (response.StatusCode == HttpStatusCode.Accepted)
                accepted++;
        }

        return accepted;
    }

    private async Task<int> RunAsync(CancellationToken cancellationToken, params string[] arguments)
    {
        var (exitCode, output, error) = await CommandLine.RunAsync(
            _first.Folder,
            cancellationToken,
            ["endpoints", .. arguments, "--url", _first.Management.OriginalString]
        );
        TestContext.Out.WriteLine(output + error);
        return exitCode;
    }

    private static Task WaitForAsync<T>(RunningHost host, string setting, T wanted, CancellationToken cancellationToken) =>
        host.WaitAsync(
            async token =>
            {
                var current = (await host.AskAsync("/api/endpoints/ledger", token)).GetProperty("current");
                return current.GetProperty(setting).Deserialize<T>()!.Equals(wanted);
            },
            Soon,
            $"to have {setting} {wanted}",
            cancellationToken
        );

    private int CountFiles() => Directory.Exists(Ledger) ? Directory.EnumerateFiles(Ledger, "*.json").Count() : 0;
}
