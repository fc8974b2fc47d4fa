using System.Text.Json.Nodes;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.IntegrationTests.Faults.Nemeses;
using Esb.IntegrationTests.Faults.Network;
using Npgsql;

namespace Esb.IntegrationTests.EndToEnd.Versions;

/// <summary>Three hosts that share a store run one version: all go on with the next, or none, and one that missed it catches up.</summary>
[CancelAfter(240_000)]
public sealed class FarmVersionTests
{
    private const int Count = 3;

    // The name of an endpoint that hosts cannot start.
    private const string Unmade = "unmade";

    private readonly List<HostProcess> _hosts = [];
    private ServerSections _servers = null!;
    private DirectoryInfo _folder = null!;
    private JsonObject _json = null!;
    private string _sections = "";

    private string Configuration => Path.Combine(_folder.FullName, "esb.json");

    [OneTimeSetUp]
    public async Task StartServers() => _servers = await ServerSections.StartAsync();

    [OneTimeTearDown]
    public async Task StopServers() => await _servers.DisposeAsync();

    [SetUp]
    public async Task StartHosts()
    {
        _folder = Directory.CreateTempSubdirectory("esb-farm-versions-");
        _sections = _servers.Next();
        _json = JsonNode
            .Parse(
                $$"""
                {
                  "name": "versions",
                  {{_sections}}
                  "management": { "configuration": "store" },
                  "processes": { "in": [{ "respond": { "body": "one" } }] },
                  "endpoints": { "shop": { "type": "http-inbound", "path": "/shop", "mode": "request-reply", "process": "in" } }
                }
                """
            )!
            .AsObject();
        Write("one");
        for (var i = 0; i < Count; i++)
            _hosts.Add(await StartAsync($"host{i}"));
        foreach (var host in _hosts)
            await AwaitAsync(host, "1", "one");
        await HearAsync();
    }

    [TearDown]
    public async Task StopHosts()
    {
        foreach (var host in _hosts)
            await host.DisposeAsync();
        _hosts.Clear();
        _folder.Delete(recursive: true);
    }

    [Test, Category("Thorough")]
    public async Task Applied_version_is_in_service_on_every_host_and_on_one_that_starts_later(CancellationToken cancellationToken)
    {
        Write("two");
        var (exitCode, output, error) = await ApplyAsync(0, cancellationToken);
        var answers = await AnswersAsync(cancellationToken);
        Write("one");
        await _hosts[2].DisposeAsync();
        _hosts[2] = await StartAsync("later");

        Assert.That(exitCode, Is.Zero, error);
        Assert.That(output, Does.Contain($":{_hosts[0].Id}").And.Contain($":{_hosts[1].Id}"));
        Assert.That(answers, Is.EqualTo(new[] { "two", "two", "two" }));
        Assert.That(await AnswersAsync(cancellationToken), Is.EqualTo(new[] { "two", "two", "two" }));
    }

    [Test, Category("Thorough")]
    public async Task Of_two_operators_who_apply_at_once_one_is_told_to_look_again(CancellationToken cancellationToken)
    {
        Write("two");
        var other = Path.Combine(_folder.CreateSubdirectory("other").FullName, "esb.json");
        File.Copy(Configuration, other);
        Write("three");
        var both = await Task.WhenAll(
            EsbAsync(0, cancellationToken, "apply", Configuration, "--based-on", "1"),
            EsbAsync(1, cancellationToken, "apply", other, "--based-on", "1")
        );

        Assert.That(both.Count(one => one.ExitCode == 0), Is.EqualTo(1), string.Join('\n', both.Select(one => one.Error)));
        Assert.That(
            both.Single(one => one.ExitCode != 0).Error,
            Does.Contain("ESB-CONFIG-CONFLICT").Or.Contain("ESB-CONFIG-BUSY").Or.Contain("ESB-CONFIG-DIFFERS")
        );
        var winner = both[0].ExitCode == 0 ? "three" : "two";
        foreach (var host in _hosts)
            await AwaitAsync(host, "2", winner);
    }

    [Test, Category("Thorough")]
    public async Task Version_that_cannot_start_on_one_host_is_rolled_back_on_all(CancellationToken cancellationToken)
    {
        await _hosts[2].DisposeAsync();
        _hosts[2] = await StartAsync("broken", new Dictionary<string, string> { ["ESB_KNOWNBAD_UNMADE"] = "broken" });
        await AwaitAsync(_hosts[2], "1", "one");
        await HearAsync();
        _json["endpoints"]!["broken"] = new JsonObject
        {
            ["type"] = "file-outbound",
            ["folder"] = _folder.FullName,
            ["fileName"] = "{message.id}",
        };
        Write("two");
        var (exitCode, _, error) = await ApplyAsync(0, cancellationToken);

        Assert.That(exitCode, Is.Not.Zero);
        Assert.That(error, Does.Contain("ESB-CONFIG-ROLLEDBACK").And.Contain($":{_hosts[2].Id}"));
        foreach (var host in _hosts)
            await AwaitAsync(host, "3", "one");
    }

    [Test, Category("Thorough")]
    public async Task Version_with_which_a_single_instance_endpoint_cannot_start_is_rolled_back_on_all(CancellationToken cancellationToken)
    {
        _json["processes"]!["note"] = JsonNode.Parse("""[{ "log": "a file" }]""");
        _json["endpoints"]![Unmade] = new JsonObject
        {
            ["type"] = "file-inbound",
            ["folder"] = Path.Combine(_folder.FullName, "in"),
            ["process"] = "note",
            ["singleInstance"] = true,
        };
        Write("two");
        var (exitCode, _, error) = await ApplyAsync(0, cancellationToken);

        Assert.That(exitCode, Is.Not.Zero);
        Assert.That(error, Does.Contain("ESB-CONFIG-ROLLEDBACK").And.Contain($"endpoint {Unmade} cannot start: its library is missing"));
        foreach (var host in _hosts)
            await AwaitAsync(host, "3", "one");
    }

    [Test, Category("Thorough")]
    public async Task Single_instance_endpoint_of_a_version_starts_on_one_host_and_the_version_stays(CancellationToken cancellationToken)
    {
        _json["processes"]!["note"] = JsonNode.Parse("""[{ "log": "a file" }]""");
        _json["endpoints"]!["files"] = new JsonObject
        {
            ["type"] = "file-inbound",
            ["folder"] = _folder.CreateSubdirectory("in").FullName,
            ["process"] = "note",
            ["singleInstance"] = true,
        };
        Write("two");
        var (exitCode, _, error) = await ApplyAsync(0, cancellationToken);
        var states = new List<string>();
        foreach (var host in _hosts)
            states.Add((await host.AskAsync("/api/endpoints/files", cancellationToken)).GetProperty("state").GetString()!);

        Assert.That(exitCode, Is.Zero, error);
        Assert.That(states, Is.EquivalentTo(new[] { "running", "standby", "standby" }), "answered once one host runs it");
        foreach (var host in _hosts)
            await AwaitAsync(host, "2", "two");
    }

    [Test, Category("Thorough")]
    public async Task Version_that_does_not_compile_on_one_host_changes_none(CancellationToken cancellationToken)
    {
        await _hosts[2].DisposeAsync();
        _hosts[2] = await StartAsync("other", new Dictionary<string, string> { ["ONLY_HERE"] = "x" });
        await AwaitAsync(_hosts[2], "1", "one");
        await HearAsync();
        _json["processes"]!["more"] = JsonNode.Parse("""[{ "log": "${env:ONLY_HERE}" }]""");
        Write("two");
        var (exitCode, _, error) = await ApplyAsync(2, cancellationToken);

        Assert.That(exitCode, Is.Not.Zero);
        Assert.That(error, Does.Contain("ESB-CONFIG-DIFFERS").And.Contain("ONLY_HERE"));
        Assert.That(await AnswersAsync(cancellationToken), Is.EqualTo(new[] { "one", "one", "one" }));
    }

    [Test, Category("Thorough")]
    public async Task Host_that_stood_still_during_the_exchange_catches_up(CancellationToken cancellationToken)
    {
        await _hosts[2].SignalAsync("STOP");
        await Task.Delay(TimeSpan.FromSeconds(8), cancellationToken); // no member any more after 7 s
        Write("two");
        var (exitCode, _, error) = await ApplyAsync(0, cancellationToken);
        await _hosts[2].SignalAsync("CONT");

        Assert.That(exitCode, Is.Zero, error);
        foreach (var host in _hosts)
            await AwaitAsync(host, "2", "two");
    }

    [Test, Category("Thorough")]
    public async Task Host_that_is_cut_off_from_the_broker_during_the_exchange_ends_with_the_version_of_the_others(
        CancellationToken cancellationToken
    )
    {
        var broker = new UriBuilder(_servers.Variables["ESB_RABBITMQ"]);
        await using var network = new LocalProxy(broker.Port);
        broker.Port = network.Port;
        await _hosts[2].DisposeAsync();
        _hosts[2] = await StartAsync("cut", new Dictionary<string, string> { ["ESB_RABBITMQ"] = broker.Uri.OriginalString });
        for (var round = 0; round < 4; round++)
        {
            await HearAsync();
            Write($"round{round}");
            var applying = ApplyAsync(0, cancellationToken);
            await Task.Delay(TimeSpan.FromMilliseconds(900 + (round * 200)), cancellationToken); // while the command works
            await network.ResetAsync();
            await applying;
            await network.HealAsync();
            var answer = await AnswerAsync(_hosts[0], cancellationToken);
            foreach (var host in _hosts)
                await AwaitAsync(host, null, answer);
        }
    }

    [Test, Category("Thorough")]
    public async Task Host_that_starts_during_an_exchange_handles_no_message_with_the_version_before(CancellationToken cancellationToken)
    {
        Write("two");
        Assert.That((await ApplyAsync(0, cancellationToken)).ExitCode, Is.Zero);
        await _hosts[2].DisposeAsync();
        var versions = $"{_json["store"]!["schema"]}.configuration_version";
        await using var database = NpgsqlDataSource.Create(_servers.Postgres);
        await using (
            var propose = database.CreateCommand(
                $"""
                insert into {versions} (number, exchange, revision, based_on, kind, changes, content, made_by, proposed_at)
                select 3, gen_random_uuid(), revision, 2, 'apply', '', content, 'tests', clock_timestamp() from {versions} where number = 1
                """
            )
        )
            Assert.That(await propose.ExecuteNonQueryAsync(cancellationToken), Is.EqualTo(1));
        _hosts[2] = Launch("late");
        await _hosts[2]
            .WaitAsync(
                _ => Task.FromResult(_hosts[2].Output.Contains("database is ready", StringComparison.Ordinal)),
                TimeSpan.FromSeconds(60),
                "to have read its version",
                cancellationToken
            );
        await Task.Delay(TimeSpan.FromSeconds(4), cancellationToken); // it has heard of the others, and waits for the decision
        var isReady = (await GetAsync(_hosts[2], "/health/ready", cancellationToken)).IsSuccess;
        await using (var accept = database.CreateCommand($"update {versions} set accepted_at = clock_timestamp() where number = 3"))
            await accept.ExecuteNonQueryAsync(cancellationToken);
        foreach (var host in _hosts)
            await AwaitAsync(host, "3", "one");

        Assert.That(isReady, Is.False, "it waits for the decision");
        Assert.That(_hosts[2].Output, Does.Contain("it starts anew").And.Not.Contain("catch up"));
    }

    [Test, Category("Thorough")]
    public async Task Leader_that_dies_during_the_exchange_leaves_the_farm_with_one_version(CancellationToken cancellationToken)
    {
        for (var round = 0; round < 4; round++)
        {
            Write($"round{round}");
            var applying = EsbAsync(0, cancellationToken, "apply", Configuration);
            await Task.Delay(TimeSpan.FromMilliseconds(1_200 + (round * 150)), cancellationToken); // while the command works
            _hosts[0].Kill();
            await applying;
            await _hosts[0].DisposeAsync();
            _hosts[0] = await StartAsync($"again{round}");
            var answer = await AnswerAsync(_hosts[0], cancellationToken);
            foreach (var host in _hosts)
                await AwaitAsync(host, null, answer);
            await HearAsync();
        }
    }

    [Test, Category("Thorough")]
    public async Task Host_that_is_stopped_during_the_exchange_does_not_end_it_for_the_others(CancellationToken cancellationToken)
    {
        Write("two");
        await _hosts[2].SignalAsync("STOP"); // does not answer, so that the leader waits
        var applying = ApplyAsync(0, cancellationToken);
        await AwaitPreparedAsync(cancellationToken);
        await _hosts[1].StopAsync(cancellationToken);
        await _hosts[2].SignalAsync("CONT");
        var (exitCode, _, error) = await applying;

        Assert.That(exitCode, Is.Zero, error);
        foreach (var host in new[] { _hosts[0], _hosts[2] })
            await AwaitAsync(host, "2", "two");
    }

    [Test, Category("Thorough")]
    public async Task Version_that_a_dead_leader_proposed_does_not_stand_in_the_way_of_the_next(CancellationToken cancellationToken)
    {
        Write("two");
        await _hosts[2].SignalAsync("STOP"); // does not answer, so that the leader waits
        var applying = EsbAsync(0, cancellationToken, "apply", Configuration);
        await AwaitPreparedAsync(cancellationToken);
        _hosts[0].Kill();
        await applying;
        await _hosts[2].SignalAsync("CONT");
        Write("three");
        await _hosts[1]
            .WaitAsync(
                async token => (await ApplyAsync(1, token)).ExitCode == 0,
                TimeSpan.FromSeconds(75), // a proposal that nobody withdraws is forgotten after 120
                "to apply the next version",
                cancellationToken
            );

        foreach (var host in _hosts.Skip(1))
            await AwaitAsync(host, null, "three");
    }

    [Test, Category("Thorough")]
    public async Task Database_that_is_away_refuses_an_exchange_and_a_host_starts_from_its_last_version(CancellationToken cancellationToken)
    {
        Write("two");
        Assert.That((await ApplyAsync(0, cancellationToken)).ExitCode, Is.Zero);
        await _servers.StopPostgresAsync();
        Write("three");
        var (exitCode, _, error) = await ApplyAsync(0, cancellationToken, "--based-on", "2");
        var running = await AnswersAsync(cancellationToken);
        await _hosts[2].DisposeAsync();
        _hosts[2] = Launch("host2");
        await _hosts[2]
            .WaitAsync(
                async token => await AnswerAsync(_hosts[2], token) == "two",
                TimeSpan.FromSeconds(90),
                "to run its last version",
                cancellationToken
            );
        await _servers.StartPostgresAsync();

        Assert.That(exitCode, Is.Not.Zero);
        Assert.That(error, Does.Contain("ESB-STORE"));
        Assert.That(running, Is.EqualTo(new[] { "two", "two", "two" }));
        Assert.That((await ApplyAsync(0, cancellationToken, "--based-on", "2")).ExitCode, Is.Zero);
        foreach (var host in _hosts)
            await AwaitAsync(host, "3", "three");
    }

    [Test, Category("Thorough")]
    public async Task Host_whose_disk_is_full_refuses_a_version_and_catches_up_once_there_is_space(CancellationToken cancellationToken)
    {
        await _hosts[2].DisposeAsync();
        var versions = Path.Combine(_folder.CreateSubdirectory("cramped").FullName, "esb-data", "configuration");
        await using var volume = await SmallVolume.MountAsync(versions, megabytes: 2);
        _hosts[2] = await StartAsync("cramped");
        await using var last = _hosts[2]; // ends before its volume does
        await AwaitAsync(_hosts[2], "1", "one");
        await HearAsync();
        await using (await volume.FillAsync())
        {
            Write("two");
            var refused = await ApplyAsync(0, cancellationToken);
            var answers = await AnswersAsync(cancellationToken);
            await _hosts[2].SignalAsync("STOP");
            await Task.Delay(TimeSpan.FromSeconds(8), cancellationToken); // no member any more after 7 s
            var applied = await ApplyAsync(0, cancellationToken);
            Assert.That(applied.ExitCode, Is.Zero, applied.Error);
            await _hosts[2].SignalAsync("CONT");
            await _hosts[2].WaitAsync(HasNoticeAsync, TimeSpan.FromSeconds(60), "to say that its disk is full", cancellationToken);

            Assert.That(refused.ExitCode, Is.Not.Zero);
            Assert.That(refused.Error, Does.Contain("ESB-CONFIG-DIFFERS").And.Contain("ESB-CONFIG-DISK").And.Contain($":{_hosts[2].Id}"));
            Assert.That(answers, Is.EqualTo(new[] { "one", "one", "one" }));
            Assert.That(await AnswerAsync(_hosts[2], cancellationToken), Is.EqualTo("one"));
        }

        foreach (var host in _hosts)
            await AwaitAsync(host, "2", "two");
        await _hosts[2]
            .WaitAsync(async token => !await HasNoticeAsync(token), TimeSpan.FromSeconds(60), "to withdraw its notice", cancellationToken);
        Assert.That(_hosts[1].Output + _hosts[2].Output, Does.Not.Contain("DecideReload"), "a command that is called off is no failure");

        // The broker may have given up the connection of the host that stood still.
        async Task<bool> HasNoticeAsync(CancellationToken token) =>
            (await GetAsync(_hosts[2], "/health/ready", token)).Text.Contains("ESB-CONFIG-DISK: version 2", StringComparison.Ordinal);
    }

    // The second host is then busy with the exchange that the first one leads.
    private Task AwaitPreparedAsync(CancellationToken cancellationToken) =>
        _hosts[1]
            .WaitAsync(
                async token => (await RefusedAsync(1, token)).Contains("ESB-CONFIG-BUSY", StringComparison.Ordinal),
                TimeSpan.FromSeconds(30),
                "to have prepared the exchange",
                cancellationToken
            );

    // In this process: on a busy machine the exchange is over before another one has started twice.
    private async Task<string> RefusedAsync(int host, CancellationToken cancellationToken)
    {
        string[] arguments = ["apply", Configuration, "--based-on", "99", "--url", _hosts[host].Management.OriginalString];
        var (_, _, error) = await CommandLine.RunHereAsync(_hosts[host].Folder, _servers.Variables, cancellationToken, arguments);
        return error;
    }

    private void Write(string answer)
    {
        _json["processes"]!["in"] = JsonNode.Parse($$"""[{ "respond": { "body": "{{answer}}" } }]""");
        File.WriteAllText(Configuration, _json.ToJsonString());
    }

    private HostProcess Launch(string folder, IReadOnlyDictionary<string, string>? variables = null)
    {
        var all = new Dictionary<string, string>(_servers.Variables) { ["ESB_KNOWNBAD_UNMADE"] = Unmade };
        foreach (var (name, value) in variables ?? new Dictionary<string, string>())
            all[name] = value;
        return HostProcess.Launch(Repository.KnownBadHost, Configuration, _folder.CreateSubdirectory(folder).FullName, all);
    }

    private async Task<HostProcess> StartAsync(string folder, IReadOnlyDictionary<string, string>? variables = null)
    {
        var host = Launch(folder, variables);
        await host.WaitUntilReadyAsync(CancellationToken.None);
        return host;
    }

    private async Task HearAsync()
    {
        foreach (var host in _hosts)
            await host.WaitAsync(
                async token => await KnownAsync(host, token) == Count,
                TimeSpan.FromSeconds(30),
                "to hear of the others",
                CancellationToken.None
            );
    }

    private static async Task<int> KnownAsync(HostProcess host, CancellationToken cancellationToken)
    {
        var (isSuccess, text) = await GetAsync(host, "/api/hosts", cancellationToken);
        return isSuccess ? JsonNode.Parse(text)!["items"]!.AsArray().Count : 0; // not known yet
    }

    // A host that is not ready answers with another status.
    private static async Task<(bool IsSuccess, string Text)> GetAsync(HostProcess host, string path, CancellationToken cancellationToken)
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, new Uri(host.Management, path));
        var key = await File.ReadAllTextAsync(Path.Combine(host.Folder, "esb-data", "management.key"), cancellationToken);
        request.Headers.Add("X-Esb-Key", key.Trim());
        using var answer = await host.Client.SendAsync(request, cancellationToken);
        return (answer.IsSuccessStatusCode, await answer.Content.ReadAsStringAsync(cancellationToken));
    }

    private Task<(int ExitCode, string Output, string Error)> ApplyAsync(
        int host,
        CancellationToken cancellationToken,
        params string[] options
    ) => EsbAsync(host, cancellationToken, ["apply", Configuration, .. options]);

    private Task<(int ExitCode, string Output, string Error)> EsbAsync(
        int host,
        CancellationToken cancellationToken,
        params string[] arguments
    ) =>
        CommandLine.RunAsync(
            _hosts[host].Folder,
            _servers.Variables,
            cancellationToken,
            [.. arguments, "--url", _hosts[host].Management.OriginalString]
        );

    private static Task AwaitAsync(HostProcess host, string? version, string answer) =>
        host.WaitAsync(
            async token =>
                await AnswerAsync(host, token) == answer
                && (
                    version is null
                    || (await host.AskAsync("/api/configuration/versions", token)).GetProperty("running").ToString() == version
                ),
            TimeSpan.FromSeconds(60),
            $"to run version {version}: {answer}",
            CancellationToken.None
        );

    private async Task<IReadOnlyList<string>> AnswersAsync(CancellationToken cancellationToken)
    {
        var answers = new List<string>();
        foreach (var host in _hosts)
            answers.Add(await AnswerAsync(host, cancellationToken));
        return answers;
    }

    private static async Task<string> AnswerAsync(HostProcess host, CancellationToken cancellationToken)
    {
        using var answer = await host.PostAsync("/shop", "{}", "application/json", cancellationToken);
        return (await answer.Content.ReadAsStringAsync(cancellationToken)).Trim('"');
    }
}
