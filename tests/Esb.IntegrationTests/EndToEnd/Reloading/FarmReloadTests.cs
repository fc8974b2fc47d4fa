using System.Net;
using System.Text.Json.Nodes;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.Topics.RabbitMq;
using Esb.Topics.RabbitMq.Connections;
using RabbitMQ.Client;

namespace Esb.IntegrationTests.EndToEnd.Reloading;

/// <summary>Two hosts of one farm go on with another configuration together, or not at all.</summary>
[CancelAfter(120_000)]
public sealed class FarmReloadTests
{
    private readonly List<HostProcess> _hosts = [];
    private DirectoryInfo _folder = null!;
    private JsonObject _configuration = null!;

    [SetUp]
    public async Task StartHosts()
    {
        _folder = Directory.CreateTempSubdirectory("esb-farm-reload-");
        _configuration = new JsonObject
        {
            ["name"] = "farm-reload",
            ["transport"] = new JsonObject
            {
                ["type"] = "rabbitmq",
                ["url"] = "${env:ESB_RABBITMQ}",
                ["prefix"] = $"test-{Guid.NewGuid():N}",
            },
            ["topics"] = new JsonObject { ["orders"] = new JsonObject() },
            ["endpoints"] = new JsonObject
            {
                ["shop"] = new JsonObject
                {
                    ["type"] = "http-inbound",
                    ["path"] = "/old",
                    ["publish"] = "orders.new",
                },
                ["files"] = new JsonObject
                {
                    ["type"] = "file-outbound",
                    ["subscribe"] = new JsonArray("orders.#"),
                    ["folder"] = "out",
                    ["fileName"] = "{message.id}.json",
                },
            },
        };
        foreach (var name in new[] { "one", "two" })
        {
            await WriteAsync(name);
            _hosts.Add(
                await HostProcess.StartAsync(
                    ConfigurationOf(name),
                    _folder.CreateSubdirectory(name).FullName,
                    CancellationToken.None,
                    new Dictionary<string, string> { ["ESB_RABBITMQ"] = Servers.RabbitMq }
                )
            );
        }

        // Each has heard of the other: what is changed by one is told to two.
        await _hosts[0]
            .WaitAsync(
                async token => (await KnownAsync(token)) == 2,
                TimeSpan.FromSeconds(20),
                "to hear of the other",
                CancellationToken.None
            );
    }

    [TearDown]
    public async Task StopHosts()
    {
        foreach (var host in _hosts)
            await host.DisposeAsync();
        _hosts.Clear();
        _folder.Delete(recursive: true);
    }

    [Test]
    public async Task Both_hosts_serve_the_new_configuration_when_one_is_asked(CancellationToken cancellationToken)
    {
        _configuration["endpoints"]!["shop"]!["path"] = "/new";
        await WriteAsync("one");
        await WriteAsync("two");
        var (exitCode, output, error) = await ReloadAsync(cancellationToken);

        Assert.That(exitCode, Is.Zero, error);
        Assert.That(output, Does.Contain($"{Environment.MachineName}:{_hosts[1].Id}"), "the other host is named");
        foreach (var host in _hosts)
            Assert.That(await StatusAsync(host, "/new", cancellationToken), Is.Not.EqualTo(HttpStatusCode.NotFound));
    }

    [Test, Category("Thorough")]
    public async Task Nothing_changes_where_the_files_of_a_host_differ_and_it_is_named(CancellationToken cancellationToken)
    {
        _configuration["endpoints"]!["shop"]!["path"] = "/new";
        await WriteAsync("one");
        var (exitCode, _, error) = await ReloadAsync(cancellationToken);

        Assert.That(exitCode, Is.Not.Zero);
        Assert.That(error, Does.Contain("ESB-CONFIG-DIFFERS").And.Contain($"{Environment.MachineName}:{_hosts[1].Id}"));
        foreach (var host in _hosts)
            Assert.That(await StatusAsync(host, "/new", cancellationToken), Is.EqualTo(HttpStatusCode.NotFound));

        await WriteAsync("two");
        Assert.That((await ReloadAsync(cancellationToken)).ExitCode, Is.Zero, "it can be had once the files agree");
    }

    [Test, Category("Thorough")]
    public async Task Nothing_changes_where_a_host_cannot_read_its_files(CancellationToken cancellationToken)
    {
        _configuration["endpoints"]!["shop"]!["path"] = "/new";
        await WriteAsync("one");
        await File.WriteAllTextAsync(ConfigurationOf("two"), "{ half", cancellationToken);
        var (exitCode, _, error) = await ReloadAsync(cancellationToken);

        Assert.That(exitCode, Is.Not.Zero);
        Assert.That(error, Does.Contain("ESB-CONFIG-DIFFERS").And.Contain("ESB-CFG-SYNTAX"));
        foreach (var host in _hosts)
            Assert.That(await StatusAsync(host, "/new", cancellationToken), Is.EqualTo(HttpStatusCode.NotFound));
    }

    [Test, Category("Thorough")]
    public async Task Other_queues_are_made_and_what_waits_is_moved_when_that_is_asked_for(CancellationToken cancellationToken)
    {
        await EsbAsync(cancellationToken, "endpoints", "pause", "files");
        var sent = new List<string>();
        for (var i = 0; i < 6; i++)
            sent.Add(await SendAsync(_hosts[i % 2], "/old", cancellationToken));
        _configuration["endpoints"]!["files"]!["delivery"] = "ordered";
        await WriteAsync("one");
        await WriteAsync("two");
        var refused = await ReloadAsync(cancellationToken);
        var (exitCode, output, error) = await EsbAsync(cancellationToken, "reload", "--migrate");
        await EsbAsync(cancellationToken, "endpoints", "resume", "files");
        sent.Add(await SendAsync(_hosts[1], "/old", cancellationToken));

        Assert.That(refused.ExitCode, Is.Not.Zero);
        Assert.That(refused.Error, Does.Contain("ESB-CONFIG-MIGRATION").And.Contain("endpoints.files.delivery").And.Contain("--migrate"));
        Assert.That(exitCode, Is.Zero, error);
        Assert.That(output, Does.Contain($"{Environment.MachineName}:{_hosts[1].Id}"), "the other host is named");
        await _hosts[0]
            .WaitAsync(
                _ => Task.FromResult(sent.TrueForAll(id => File.Exists(Path.Combine(_folder.FullName, "out", $"{id}.json")))),
                TimeSpan.FromSeconds(60),
                "to write what waited",
                cancellationToken
            );
        foreach (var host in _hosts)
        {
            var endpoint = await host.AskAsync("/api/endpoints/files", cancellationToken);
            var configuration = await host.AskAsync("/api/configuration", cancellationToken);
            Assert.That(endpoint.TryGetProperty("reason", out var reason) ? reason.GetString() : null, Is.Null);
            Assert.That(
                configuration
                    .GetProperty("values")
                    .EnumerateArray()
                    .Single(value => value.GetProperty("path").GetString() == "endpoints.files.delivery")
                    .GetProperty("value")
                    .GetString(),
                Does.Contain("ordered")
            );
        }
    }

    [Test, Category("Thorough")]
    public async Task Endpoint_whose_queue_exists_otherwise_refuses_the_configuration(CancellationToken cancellationToken)
    {
        var prefix = _configuration["transport"]!["prefix"]!.GetValue<string>();
        await using var connection = await RabbitMqAddress
            .Parse(Servers.RabbitMq)!
            .ToFactory("tests")
            .CreateConnectionAsync(cancellationToken);
        await using var channel = await connection.CreateChannelAsync(cancellationToken: cancellationToken);
        await channel.QueueDeclareAsync(
            new RabbitMqNames(prefix, "farm-reload").New("more").Queue,
            durable: true,
            exclusive: false,
            autoDelete: false,
            new Dictionary<string, object?> { ["x-max-length"] = 5 },
            cancellationToken: cancellationToken
        );
        _configuration["endpoints"]!["more"] = _configuration["endpoints"]!["files"]!.DeepClone();
        _configuration["endpoints"]!["shop"]!["path"] = "/new";
        await WriteAsync("one");
        await WriteAsync("two");

        var (exitCode, _, error) = await ReloadAsync(cancellationToken);

        Assert.That(exitCode, Is.Not.Zero);
        Assert.That(error, Does.Contain("ESB-CONFIG-MIGRATION").And.Contain("more"));
        foreach (var host in _hosts)
            Assert.That(await StatusAsync(host, "/new", cancellationToken), Is.EqualTo(HttpStatusCode.NotFound));
    }

    private static async Task<string> SendAsync(HostProcess host, string path, CancellationToken cancellationToken)
    {
        using var response = await host.PostAsync(path, "{}", "application/json", cancellationToken);
        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
        return response.Headers.GetValues("Esb-Message-Id").Single();
    }

    private static async Task<HttpStatusCode> StatusAsync(HostProcess host, string path, CancellationToken cancellationToken)
    {
        using var response = await host.PostAsync(path, "{}", "application/json", cancellationToken);
        return response.StatusCode;
    }

    private async Task<int> KnownAsync(CancellationToken cancellationToken)
    {
        var (_, output, _) = await CommandLine.RunAsync(
            _hosts[0].Folder,
            cancellationToken,
            "endpoints",
            "set",
            "files",
            "--pool-size",
            "2",
            "--url",
            _hosts[0].Management.OriginalString
        );
        return output.Split(Environment.MachineName).Length - 1;
    }

    private Task<(int ExitCode, string Output, string Error)> ReloadAsync(CancellationToken cancellationToken) =>
        EsbAsync(cancellationToken, "reload");

    private Task<(int ExitCode, string Output, string Error)> EsbAsync(CancellationToken cancellationToken, params string[] arguments) =>
        CommandLine.RunAsync(_hosts[0].Folder, cancellationToken, [.. arguments, "--url", _hosts[0].Management.OriginalString]);

    private Task WriteAsync(string host) => File.WriteAllTextAsync(ConfigurationOf(host), _configuration.ToJsonString());

    private string ConfigurationOf(string host) => Path.Combine(_folder.FullName, $"{host}.json");
}
