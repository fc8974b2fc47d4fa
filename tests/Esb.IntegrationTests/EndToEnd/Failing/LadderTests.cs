using System.Collections.Concurrent;
using System.Diagnostics;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.IntegrationTests.Storage;

namespace Esb.IntegrationTests.EndToEnd.Failing;

/// <summary>A ladder that is climbed in place, over the death of its host: processes, RabbitMQ, PostgreSQL, and a back end that refuses one
/// message.</summary>
[FixtureLifeCycle(LifeCycle.InstancePerTestCase), Category("Failures")]
public sealed class LadderTests
{
    private const int Poison = 0;
    private static readonly TimeSpan Soon = TimeSpan.FromSeconds(60);

    private readonly string _prefix = $"ladder{Guid.NewGuid():N}"[..14];
    private readonly ConcurrentQueue<long> _attempts = new();
    private readonly List<RunningHost> _hosts = [];
    private DirectoryInfo _folder = null!;
    private TestSchema _schema = null!;
    private OrderBackend _backend = null!;

    [SetUp]
    public async Task Start()
    {
        _folder = Directory.CreateTempSubdirectory("esb-ladder-");
        _schema = await TestSchema.StartAsync();
        _backend = await OrderBackend.StartAsync(
            (_, number) =>
            {
                if (number != Poison)
                    return Task.FromResult(200);
                _attempts.Enqueue(Stopwatch.GetTimestamp());
                return Task.FromResult(503);
            }
        );
    }

    [TearDown]
    public async Task Stop()
    {
        foreach (var host in _hosts)
            await host.DisposeAsync();
        await _backend.DisposeAsync();
        await _schema.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [
        TestCase(1, TestName = "Host_goes_on_with_its_ladder_after_it_died", Category = "Faults,Waits"),
        TestCase(2, TestName = "Another_host_goes_on_with_the_ladder_of_one_that_died", Category = "Faults,Waits")
    ]
    [CancelAfter(180_000), Property("Case", "T-POI-1")]
    public async Task Ladder_goes_on_after_the_death_of_its_host(int hosts, CancellationToken cancellationToken)
    {
        for (var i = 0; i < hosts; i++)
            await StartHostAsync(cancellationToken);
        foreach (var number in new[] { Poison, 1, 2 })
            (await _hosts[0].PostAsync("/orders", $"{number}", "text/plain", cancellationToken)).EnsureSuccessStatusCode();
        await _hosts[0].WaitAsync(async _ => await KeptAsync() == 3, Soon, "to have tried three times", cancellationToken);

        var died = await DelivererAsync(cancellationToken);
        died.Kill();
        await died.DisposeAsync();
        _hosts.Remove(died);
        if (hosts == 1)
            await StartHostAsync(cancellationToken);
        await _hosts[0]
            .WaitAsync(
                async _ => _backend.Applied.Count == 2 && (await LettersAsync()).Count == 1,
                Soon,
                "to give the message up and deliver the rest",
                cancellationToken
            );

        var pause = Stopwatch.GetElapsedTime(_attempts.ElementAt(2), _attempts.ElementAt(3));
        TestContext.Out.WriteLine($"{_attempts.Count} attempts, {pause.TotalSeconds:0.0} s between the third and the fourth");
        using (Assert.EnterMultipleScope())
        {
            Assert.That(_attempts, Has.Count.EqualTo(5), "the ladder is not begun anew");
            Assert.That(pause, Is.GreaterThan(TimeSpan.FromSeconds(7.5)), "nor is its delay cut short");
            Assert.That(await LettersAsync(), Is.EqualTo(new[] { "5 attempts, 5 failures" }));
            Assert.That(await KeptAsync(), Is.Null, "what is settled is forgotten");
            Assert.That(_backend.Applied.Select(applied => applied.Number), Is.EqualTo(new[] { 1, 2 }));
        }
    }

    // Which of them has the queue is decided between them.
    private async Task<RunningHost> DelivererAsync(CancellationToken cancellationToken)
    {
        foreach (var host in _hosts)
        {
            if ((await host.AskAsync("/api/endpoints/ledger", cancellationToken)).GetProperty("inFlight").GetInt32() > 0)
                return host;
        }

        throw new InvalidOperationException("No host delivers.");
    }

    private async Task<int?> KeptAsync() =>
        (await _schema.QueryAsync<int?>("select attempts from attempt where attempts > 0")).SingleOrDefault();

    private Task<IReadOnlyList<string>> LettersAsync() =>
        _schema.QueryAsync<string>("select concat(attempts, ' attempts, ', jsonb_array_length(failures), ' failures') from dead_letter");

    private async Task StartHostAsync(CancellationToken cancellationToken)
    {
        var folder = _folder.CreateSubdirectory($"{Guid.NewGuid():N}").FullName;
        var configuration = Path.Combine(folder, "esb.json");
        await File.WriteAllTextAsync(
            configuration,
            $$"""
            {
              "name": "ladder",
              "transport": { "type": "rabbitmq", "url": "${env:ESB_RABBITMQ}", "prefix": "{{_prefix}}" },
              "store": { "type": "postgres", "connection": "{{_schema.Config.Connection}}", "schema": "{{_schema.Config.Schema}}" },
              "topics": { "orders": {} },
              "endpoints": {
                "door": { "type": "http-inbound", "path": "/orders", "publish": "orders.new" },
                "ledger": {
                  "type": "http-outbound", "url": "{{_backend.Url.OriginalString}}", "subscribe": ["orders.#"],
                  "delivery": "ordered", "onFailure": "dead-letter", "retry": { "immediate": 1, "delays": ["2s", "8s", "3s"] }
                }
              }
            }
            """,
            cancellationToken
        );
        _hosts.Add(
            await RunningHost.StartAsync(
                configuration,
                folder,
                cancellationToken,
                new Dictionary<string, string> { ["ESB_RABBITMQ"] = Servers.RabbitMq }
            )
        );
    }
}
