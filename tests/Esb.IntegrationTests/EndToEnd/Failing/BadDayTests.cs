using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;
using Dapper;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Npgsql;

namespace Esb.IntegrationTests.EndToEnd.Failing;

/// <summary>What was accepted arrives, whatever dies: the database sample with servers of its own that are stopped and killed.</summary>
[NonParallelizable, Category("Failures")]
[OwnProcess]
public sealed class BadDayTests
{
    private PrivateServers _servers = null!;
    private NpgsqlDataSource _database = null!;
    private DirectoryInfo _folder = null!;
    private RunningHost? _host;

    [OneTimeSetUp]
    public async Task StartServers()
    {
        _servers = await PrivateServers.StartAsync();
        _database = NpgsqlDataSource.Create(_servers.Postgres);
        await using var connection = await _database.OpenConnectionAsync();
        await connection.ExecuteAsync(await File.ReadAllTextAsync(Repository.PathOf("samples", "database", "tables.sql")));
    }

    [OneTimeTearDown]
    public async Task StopServers()
    {
        await _database.DisposeAsync();
        await _servers.DisposeAsync();
    }

    [SetUp]
    public void CreateFolder() => _folder = Directory.CreateTempSubdirectory("esb-bad-day-");

    [TearDown]
    public async Task StopHost()
    {
        if (_host is not null)
            await _host.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test, CancelAfter(120_000), Property("Case", "HTP-26")]
    public async Task Broker_that_goes_away_is_answered_with_503_and_comes_back_without_a_restart(CancellationToken cancellationToken)
    {
        await StartHostAsync(cancellationToken);
        await _servers.StopAsync("rabbitmq");

        await _host!.WaitAsync(
            async token => !await IsReadyAsync(token),
            TimeSpan.FromSeconds(20),
            "to say that it is not ready",
            cancellationToken
        );
        using var refused = await _host.PostAsync("/orders", "{}", "application/json", cancellationToken);
        var text = await refused.Content.ReadAsStringAsync(cancellationToken);
        await _servers.StartAsync("rabbitmq");
        await _host.WaitAsync(IsReadyAsync, TimeSpan.FromSeconds(60), "to be ready again", cancellationToken);
        var id = await PostOrderAsync(cancellationToken);
        await WaitForRowsAsync([id!.Value], cancellationToken);

        Assert.Multiple(() =>
        {
            Assert.That(refused.StatusCode, Is.EqualTo(HttpStatusCode.ServiceUnavailable));
            Assert.That(refused.Headers.RetryAfter, Is.Not.Null);
            Assert.That(text, Does.Contain("\"code\"").And.Contain("ESB-").And.Not.Contain("   at "));
        });
    }

    [Test, Category("Faults"), Category("Waits"), CancelAfter(120_000)]
    public async Task Host_starts_with_both_servers_away_and_becomes_ready_when_they_come(CancellationToken cancellationToken)
    {
        await _servers.StopAsync("rabbitmq");
        await _servers.StopAsync("postgres");
        var starting = StartHostAsync(cancellationToken);
        await Task.Delay(TimeSpan.FromSeconds(3), cancellationToken);
        var startedEarly = starting.IsCompleted;

        await _servers.StartAsync("postgres");
        await _servers.StartAsync("rabbitmq");
        await starting;
        _database.Clear(); // its idle connections died with the server
        var id = await PostOrderAsync(cancellationToken);
        await WaitForRowsAsync([id!.Value], cancellationToken);

        Assert.That(startedEarly, Is.False, "it is not ready while its servers are away");
    }

    [Test, Category("Thorough"), CancelAfter(120_000)]
    public async Task Database_that_is_away_stops_no_intake_and_what_was_accepted_arrives_later(CancellationToken cancellationToken)
    {
        await StartHostAsync(cancellationToken);
        await _servers.StopAsync("postgres");

        var accepted = new List<Guid>();
        for (var i = 0; i < 50; i++)
        {
            if (await PostOrderAsync(cancellationToken) is { } id)
                accepted.Add(id);
        }

        await _host!.WaitAsync(
            async token =>
                (await _host.AskAsync("/api/endpoints", token)).ToString().Contains("\"state\":\"paused\"", StringComparison.Ordinal),
            TimeSpan.FromSeconds(20),
            "to pause the endpoint",
            cancellationToken
        );
        await _servers.StartAsync("postgres");
        _database.Clear(); // its idle connections died with the server
        await WaitForRowsAsync(accepted, cancellationToken);

        Assert.That(accepted, Has.Count.EqualTo(50));
    }

    [Test, Category("Faults"), CancelAfter(120_000)]
    public async Task Host_that_is_killed_under_load_loses_nothing_that_it_accepted(CancellationToken cancellationToken)
    {
        var accepted = new ConcurrentBag<Guid>();
        for (var round = 0; round < 3; round++)
        {
            await StartHostAsync(cancellationToken);
            using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
            var load = LoadAsync(accepted, stop.Token);
            await Task.Delay(TimeSpan.FromSeconds(2), cancellationToken);
            _host!.Kill();
            await stop.CancelAsync();
            await load;
            await _host.DisposeAsync();
        }

        await StartHostAsync(cancellationToken);
        await WaitForRowsAsync([.. accepted], cancellationToken);

        Assert.That(accepted, Has.Count.GreaterThan(100), "there was load");
    }

    [Test, Category("Faults"), CancelAfter(120_000)]
    public async Task Broker_that_is_killed_under_load_loses_nothing_that_was_accepted(CancellationToken cancellationToken)
    {
        await StartHostAsync(cancellationToken);
        var accepted = new ConcurrentBag<Guid>();
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var load = LoadAsync(accepted, stop.Token);

        await Task.Delay(TimeSpan.FromSeconds(2), cancellationToken);
        await _servers.KillAsync("rabbitmq");
        await _servers.StartAsync("rabbitmq");
        await _host!.WaitAsync(IsReadyAsync, TimeSpan.FromSeconds(60), "to be ready again", cancellationToken);
        var before = accepted.Count;
        await _host.WaitAsync(
            _ => Task.FromResult(accepted.Count > before + 100),
            TimeSpan.FromSeconds(30),
            "to accept again",
            cancellationToken
        );
        await stop.CancelAsync();
        await load;

        await WaitForRowsAsync([.. accepted], cancellationToken);
    }

    [Test, Category("Faults"), Category("Waits"), CancelAfter(120_000), Property("Case", "T-OVL-3")]
    public async Task Broker_that_is_short_of_memory_closes_the_intake_until_it_is_not(CancellationToken cancellationToken)
    {
        await StartHostAsync(cancellationToken);
        var accepted = new ConcurrentBag<Guid> { (await PostOrderAsync(cancellationToken))!.Value };
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var load = LoadAsync(accepted, stop.Token);

        await _servers.ControlRabbitMqAsync("set_vm_memory_high_watermark", "absolute", "1MB");
        await _host!.WaitAsync(
            async token => (await RefusalAsync(token))?.Contains("\"ESB-TOPIC-UNAVAILABLE\"", StringComparison.Ordinal) == true,
            TimeSpan.FromSeconds(20),
            "to turn callers away",
            cancellationToken
        );
        var started = TimeProvider.System.GetTimestamp();
        var refused = await RefusalAsync(cancellationToken);
        var took = TimeProvider.System.GetElapsedTime(started);
        var isReady = await IsReadyAsync(cancellationToken);
        await _servers.ControlRabbitMqAsync("set_vm_memory_high_watermark", "0.4");
        var before = accepted.Count;
        await _host.WaitAsync(
            _ => Task.FromResult(accepted.Count > before + 100),
            TimeSpan.FromSeconds(30),
            "to accept again",
            cancellationToken
        );
        await stop.CancelAsync();
        await load;

        Assert.That(refused, Is.Not.Null);
        Assert.That(took, Is.LessThan(TimeSpan.FromSeconds(1)), "nobody waits for a confirm that does not come");
        Assert.That(isReady, Is.False);
        await WaitForRowsAsync([.. accepted], cancellationToken);
    }

    [Test, Category("Faults"), Category("Waits"), CancelAfter(120_000)]
    public async Task Host_that_is_asked_to_stop_under_load_finishes_and_ends_with_exit_code_0(CancellationToken cancellationToken)
    {
        await StartHostAsync(cancellationToken);
        var accepted = new ConcurrentBag<Guid>();
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var load = LoadAsync(accepted, stop.Token);
        await Task.Delay(TimeSpan.FromSeconds(2), cancellationToken);

        var exitCode = await _host!.StopAsync(cancellationToken);
        await stop.CancelAsync();
        await load;
        var output = _host.Output;
        await _host.DisposeAsync();
        await StartHostAsync(cancellationToken);
        await WaitForRowsAsync([.. accepted], cancellationToken);

        Assert.That(exitCode, Is.Zero, output);
    }

    private async Task StartHostAsync(CancellationToken cancellationToken) =>
        _host = await RunningHost.StartAsync(
            Repository.PathOf("samples", "database"),
            _folder.FullName,
            cancellationToken,
            new Dictionary<string, string>
            {
                ["ESB_RABBITMQ"] = _servers.RabbitMq,
                ["ESB_POSTGRES"] = _servers.Postgres,
                // a classic queue of one node may lose what a crash of the broker caught in memory
                ["ESB__ENDPOINTS__ORDERS_DB__QUEUE__TYPE"] = "quorum",
            }
        );

    private async Task<bool> IsReadyAsync(CancellationToken cancellationToken) =>
        (await _host!.Client.GetAsync(new Uri(_host.Management, "/health/ready"), cancellationToken)).IsSuccessStatusCode;

    // The id of an accepted order; null when it was refused.
    private async Task<Guid?> PostOrderAsync(CancellationToken cancellationToken)
    {
        using var response = await _host!.PostAsync("/orders", "{}", "application/json", cancellationToken);
        return response.StatusCode == HttpStatusCode.Accepted ? Guid.Parse(response.Headers.GetValues("Esb-Message-Id").Single()) : null;
    }

    // The answer to an order that was refused; null when it was accepted.
    private async Task<string?> RefusalAsync(CancellationToken cancellationToken)
    {
        using var response = await _host!.PostAsync("/orders", "{}", "application/json", cancellationToken);
        return response.StatusCode == HttpStatusCode.ServiceUnavailable
            ? await response.Content.ReadAsStringAsync(cancellationToken)
            : null;
    }

    private Task LoadAsync(ConcurrentBag<Guid> accepted, CancellationToken cancellationToken) =>
        Task.WhenAll(
            Enumerable
                .Range(0, 8)
                .Select(async _ =>
                {
                    while (!cancellationToken.IsCancellationRequested)
                    {
                        try
                        {
                            if (await PostOrderAsync(cancellationToken) is { } id)
                                accepted.Add(id);
                        }
                        catch (Exception ex) when (ex is HttpRequestException or SocketException or OperationCanceledException)
                        {
                            if (cancellationToken.IsCancellationRequested)
                                return; // the host died: nothing was accepted
                            await Task.Delay(10, CancellationToken.None);
                        }
                    }
                })
        );

    private async Task WaitForRowsAsync(IReadOnlyCollection<Guid> ids, CancellationToken cancellationToken)
    {
        var missing = ids.Count;
        await _host!.WaitAsync(
            async token =>
            {
                await using var connection = await _database.OpenConnectionAsync(token);
                var present = await connection.ExecuteScalarAsync<int>(
                    "select count(*) from orders_in where message_id = any(@ids)",
                    new { ids = ids.ToArray() }
                );
                missing = ids.Count - present;
                return missing == 0;
            },
            TimeSpan.FromSeconds(60),
            $"to deliver {ids.Count} orders; {missing} are missing",
            cancellationToken
        );
    }
}
