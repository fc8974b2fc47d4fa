using System.Diagnostics;
using System.Net;
using System.Text.Json.Nodes;
using System.Text.RegularExpressions;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd.Reloading;

/// <summary>One of a thousand endpoints is exchanged under load, over a broker: nothing is refused or lost at the others. Says how long it
/// takes.</summary>
public sealed partial class LargeReloadTests
{
    private const int Inbound = 900;
    private const int Outbound = 100; // each with a queue, which its host declares when it starts
    private const int Rounds = 10;

    private DirectoryInfo _folder = null!;
    private ServerSections _servers = null!;

    private string Configuration => Path.Combine(_folder.FullName, "esb.json");

    private string Out => Path.Combine(_folder.FullName, "out");

    [SetUp]
    public async Task StartServers()
    {
        _folder = Directory.CreateTempSubdirectory("esb-large-");
        _servers = await ServerSections.StartAsync();
    }

    [TearDown]
    public async Task StopServers()
    {
        await _servers.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test, Category("Thorough"), CancelAfter(400_000)]
    public async Task Exchange_of_one_endpoint_of_a_thousand_disturbs_no_other(CancellationToken cancellationToken)
    {
        var configuration = Write();
        await using var host = HostProcess.Launch(
            Repository.Host,
            Configuration,
            _folder.CreateSubdirectory("host").FullName,
            _servers.Variables
        );
        var began = Stopwatch.GetTimestamp();
        await host.WaitAsync(host.IsReadyAsync, TimeSpan.FromSeconds(200), "to be ready", cancellationToken);
        var started = Stopwatch.GetElapsedTime(began);
        using var enough = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var load = PostUntilAsync(host, enough.Token);
        var times = new List<double>();
        for (var round = 0; round < Rounds; round++)
        {
            configuration["endpoints"]!["out0"]!["timeout"] = $"{31 + round}s";
            await File.WriteAllTextAsync(Configuration, configuration.ToJsonString(), cancellationToken);
            var asked = Stopwatch.GetTimestamp();
            var answer = await host.TellAsync("/api/configuration/reload", cancellationToken);
            times.Add(Stopwatch.GetElapsedTime(asked).TotalMilliseconds);
            Assert.That(
                answer.GetProperty("changes").EnumerateArray().Select(line => line.GetString()),
                Is.EqualTo(new[] { "exchange settings of endpoint out0; its instances stay" })
                    .Or.EqualTo(new[] { "replace endpoint out0 after what is under way" })
            );
        }

        await enough.CancelAsync();
        var (accepted, refused) = await load;
        await host.WaitAsync(
            _ => Task.FromResult(Directory.GetFiles(Out).Length >= accepted),
            TimeSpan.FromSeconds(60),
            $"to deliver {accepted} messages",
            cancellationToken
        );

        TestContext.Out.WriteLine(
            $"{Inbound + Outbound:N0} endpoints, {Outbound} with a queue: ready after {started.TotalSeconds:0} s; "
                + $"a reload that changes one took {string.Join(", ", times.Select(time => $"{time:0}"))} ms, of it the exchange "
                + $"{string.Join(", ", ExchangeTime().Matches(host.Output).Select(match => match.Groups[1].Value))} ms; "
                + $"{accepted} messages meanwhile"
        );
        Assert.That(refused, Is.Zero);
        Assert.That(Directory.GetFiles(Out), Has.Length.EqualTo(accepted));
        Assert.That(accepted, Is.GreaterThan(Rounds));
        Assert.That(ExchangeTime().Count(host.Output), Is.EqualTo(Rounds));
    }

    private static async Task<(int Accepted, int Refused)> PostUntilAsync(HostProcess host, CancellationToken enough)
    {
        var (accepted, refused) = (0, 0);
        for (var number = 0; !enough.IsCancellationRequested; number++)
        {
            using var answer = await host.PostAsync($"/in{number % Inbound}", "{}", "application/json", CancellationToken.None);
            if (answer.StatusCode == HttpStatusCode.Accepted)
                accepted++;
            else
                refused++;
        }

        return (accepted, refused);
    }

    [GeneratedRegex("changes, exchanged in (\\d+) ms")]
    private static partial Regex ExchangeTime();

    private JsonObject Write()
    {
        var endpoints = new JsonObject();
        for (var number = 0; number < Inbound; number++)
            endpoints[$"in{number}"] = new JsonObject
            {
                ["type"] = "http-inbound",
                ["path"] = $"/in{number}",
                ["publish"] = $"orders.to{number % Outbound}",
            };
        for (var number = 0; number < Outbound; number++)
            endpoints[$"out{number}"] = new JsonObject
            {
                ["type"] = "file-outbound",
                ["subscribe"] = new JsonArray($"orders.to{number}"),
                ["folder"] = Out,
                ["fileName"] = "{message.id}",
            };

        var configuration = JsonNode.Parse($$"""{ "name": "large", {{_servers.Next()}} "topics": { "orders": {} } }""")!.AsObject();
        configuration["endpoints"] = endpoints;
        Directory.CreateDirectory(Out);
        File.WriteAllText(Configuration, configuration.ToJsonString());
        return configuration;
    }
}
