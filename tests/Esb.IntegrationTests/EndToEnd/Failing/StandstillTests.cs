using System.Text.Json;
using Esb.Host.Commands;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd.Failing;

/// <summary>An endpoint that delivers in order over two hosts stands at a message on one of them; the operator asks both.</summary>
[CancelAfter(120_000), Category("Failures")]
public sealed class StandstillTests
{
    private static readonly TimeSpan Soon = TimeSpan.FromSeconds(30);

    private readonly string _prefix = $"test-{Guid.NewGuid():N}"[..14];
    private readonly HashSet<int> _refused = [];
    private DirectoryInfo _folder = null!;
    private OrderBackend _backend = null!;
    private HostProcess _first = null!;
    private HostProcess _second = null!;

    [SetUp]
    public async Task StartHosts()
    {
        _folder = Directory.CreateTempSubdirectory("esb-standstill-");
        _backend = await OrderBackend.StartAsync((_, number) => Task.FromResult(IsRefused(number) ? 422 : 200));
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            $$"""
            {
              "name": "standing",
              "transport": { "type": "rabbitmq", "url": "${env:ESB_RABBITMQ}", "prefix": "{{_prefix}}" },
              "topics": { "orders": {} },
              "endpoints": {
                "door": { "type": "http-inbound", "path": "/orders", "publish": "orders.new" },
                "log": { "type": "http-outbound", "subscribe": ["orders.#"], "url": "{{_backend.Url.OriginalString}}", "delivery": "ordered" }
              }
            }
            """
        );
        _first = await StartAsync("first"); // consumes before the other does, so it stands there
        await _first.WaitAsync(IsRunningAsync, Soon, "to consume", CancellationToken.None);
        _second = await StartAsync("second");
    }

    private async Task<bool> IsRunningAsync(CancellationToken cancellationToken) =>
        (await _first.AskAsync("/api/endpoints/log", cancellationToken)).GetProperty("state").GetString() == "running";

    [TearDown]
    public async Task StopHosts()
    {
        await _first.DisposeAsync();
        await _second.DisposeAsync();
        await _backend.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test, Category("Thorough")]
    public async Task Endpoint_that_stands_still_is_seen_released_and_discarded_of_whichever_host_is_asked(
        CancellationToken cancellationToken
    )
    {
        Refuse(0, 1);
        for (var number = 0; number < 4; number++)
            (await _first.PostAsync("/orders", $"{number}", "text/plain", cancellationToken)).EnsureSuccessStatusCode();
        await _second.WaitAsync(
            async token => await StandsAtAsync(_second, token) is not null,
            Soon,
            "to hear where it stands",
            cancellationToken
        );

        var (atFirst, atSecond) = (await StandsAtAsync(_first, cancellationToken), await StandsAtAsync(_second, cancellationToken));
        var away = await HostWithoutItAsync(cancellationToken);
        var stranger = await RunAsync(
            away,
            cancellationToken,
            "discard",
            "log",
            "*",
            "--message",
            $"{Guid.NewGuid()}",
            "--reason",
            "no such message"
        );
        var discarded = await RunAsync(
            away,
            cancellationToken,
            "discard",
            "log",
            "*",
            "--message",
            $"{atSecond}",
            "--reason",
            "paid by hand"
        );
        await _second.WaitAsync(
            async token => await StandsAtAsync(_second, token) is { } at && at != atSecond,
            Soon,
            "to stand at the next message",
            cancellationToken
        );
        var fact = await DiscardedAsync(atSecond!.Value, cancellationToken);
        Refuse();
        var released = await RunAsync(
            await HostWithoutItAsync(cancellationToken),
            cancellationToken,
            "release",
            "log",
            "*",
            "--reason",
            "mended"
        );
        await _second.WaitAsync(_ => Task.FromResult(_backend.Applied.Count == 3), Soon, "to deliver the rest", cancellationToken);
        var again = await RunAsync(_second, cancellationToken, "release", "log", "*");

        using (Assert.EnterMultipleScope())
        {
            Assert.That(atFirst, Is.EqualTo(atSecond));
            Assert.That(
                (stranger.ExitCode, discarded.ExitCode, released.ExitCode),
                Is.EqualTo((ExitCode.Usage, ExitCode.Done, ExitCode.Done)),
                discarded.Error + released.Error
            );
            Assert.That(_backend.Applied.Select(applied => applied.Number), Is.EqualTo(new[] { 1, 2, 3 }));
            Assert.That(fact.GetProperty("reason").GetString(), Is.EqualTo("paid by hand"));
            Assert.That(fact.GetProperty("fields").GetProperty("operator").GetString(), Is.EqualTo(Environment.UserName));
            Assert.That((again.ExitCode, again.Error), Is.EqualTo((ExitCode.Usage, again.Error)), "nothing stands any more");
            Assert.That(again.Error, Does.Contain("No such message waits at 'log'"));
        }
    }

    [Test, Category("Faults")]
    public async Task Host_that_is_frozen_may_be_the_one_and_the_answer_says_so(CancellationToken cancellationToken)
    {
        Refuse(0);
        (await _first.PostAsync("/orders", "0", "text/plain", cancellationToken)).EnsureSuccessStatusCode();
        (int ExitCode, string Output, string Error) whileFrozen;
        do
        {
            await _second.WaitAsync(
                async token => await StandsAtAsync(_second, token) is not null,
                Soon,
                "to hear where it stands",
                cancellationToken
            );
            await _first.SignalAsync("STOP");
            whileFrozen = await RunAsync(_second, cancellationToken, "release", "log", "*");
            await _first.SignalAsync("CONT");
        } while (whileFrozen.ExitCode == ExitCode.Usage); // on a busy machine it is taken for dead before the question comes

        Assert.That(whileFrozen.ExitCode, Is.EqualTo(ExitCode.Unreachable), whileFrozen.Output + whileFrozen.Error);
        Assert.That(whileFrozen.Error, Does.Contain("ESB-FARM-SILENT").And.Contain($":{_first.Id}"));
    }

    private Task<HostProcess> StartAsync(string name) =>
        HostProcess.StartAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            _folder.CreateSubdirectory(name).FullName,
            CancellationToken.None,
            new Dictionary<string, string> { ["ESB_RABBITMQ"] = Servers.RabbitMq }
        );

    private void Refuse(params int[] numbers)
    {
        lock (_refused)
        {
            _refused.Clear();
            _refused.UnionWith(numbers);
        }
    }

    private bool IsRefused(int number)
    {
        lock (_refused)
            return _refused.Contains(number);
    }

    // The endpoint may go on at either host after each command; a host says of its own endpoint whether it stands.
    private async Task<HostProcess> HostWithoutItAsync(CancellationToken cancellationToken)
    {
        HostProcess? found = null;
        await _first.WaitAsync(
            async token =>
            {
                var (atFirst, atSecond) = (await StandsHereAsync(_first, token), await StandsHereAsync(_second, token));
                found = atFirst ? _second : _first;
                return atFirst != atSecond;
            },
            Soon,
            "to stand at one host",
            cancellationToken
        );
        return found!;
    }

    private static async Task<bool> StandsHereAsync(HostProcess host, CancellationToken cancellationToken) =>
        (await host.AskAsync("/api/endpoints/log", cancellationToken)).TryGetProperty("standsAt", out var standsAt)
        && standsAt.ValueKind != JsonValueKind.Null;

    // Of the host where it stood: without a store in common each keeps its own facts.
    private async Task<JsonElement> DiscardedAsync(Guid messageId, CancellationToken cancellationToken)
    {
        foreach (var host in new[] { _first, _second })
        {
            if (await host.FindAsync($"/api/messages/{messageId}", cancellationToken) is not { } message)
                continue;
            foreach (var fact in message.GetProperty("items").EnumerateArray())
            {
                if (fact.GetProperty("kind").GetString() == "discarded")
                    return fact;
            }
        }

        throw new AssertionException($"No host has recorded that {messageId} was discarded.");
    }

    private static async Task<Guid?> StandsAtAsync(HostProcess host, CancellationToken cancellationToken) =>
        (await host.FindAsync("/api/parked/log/*", cancellationToken))
            ?.GetProperty("items")
            .EnumerateArray()
            .Select(item => (Guid?)item.GetProperty("id").GetGuid())
            .SingleOrDefault();

    private static Task<(int ExitCode, string Output, string Error)> RunAsync(
        HostProcess host,
        CancellationToken cancellationToken,
        params string[] arguments
    ) => CommandLine.RunAsync(host.Folder, cancellationToken, ["parked", .. arguments, "--url", host.Management.OriginalString]);
}
