using System.Diagnostics;
using Esb.Core.Storage;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.IntegrationTests.Storage;

namespace Esb.IntegrationTests.EndToEnd.Failing;

/// <summary>Order by key through failures: hosts as processes, RabbitMQ, PostgreSQL, and a back end that refuses what the test wants it
/// to.</summary>
[Category("Thorough"), NonParallelizable, FixtureLifeCycle(LifeCycle.InstancePerTestCase), Category("Failures")]
public sealed class ParkingTests
{
    private const int Keys = 40;
    private const int Poisoned = 20;
    private const int Numbers = 20;
    private const int PoisonAt = 10;

    private readonly string _prefix = $"park{Guid.NewGuid():N}"[..12];
    private readonly List<RunningHost> _hosts = [];
    private readonly List<DirectoryInfo> _folders = [];
    private volatile bool _refuses = true;
    private volatile bool _fails;
    private TestSchema _schema = null!;
    private OrderBackend _backend = null!;

    [SetUp]
    public async Task Start()
    {
        _schema = await TestSchema.StartAsync();
        _backend = await OrderBackend.StartAsync(
            (key, number) =>
                Task.FromResult(
                    _fails ? 500
                    : _refuses && number == PoisonAt && IsPoisoned(key) ? 422
                    : 200
                )
        );
    }

    [TearDown]
    public async Task Stop()
    {
        foreach (var host in _hosts)
            await host.DisposeAsync();
        foreach (var folder in _folders)
            folder.Delete(recursive: true);
        await _backend.DisposeAsync();
        await _schema.DisposeAsync();
    }

    [Test, Category("Faults"), Category("WaitsLong"), CancelAfter(240_000), Property("Case", "T-ORD-2")]
    public async Task Poison_in_the_middle_parks_its_key_over_two_hosts_and_a_release_goes_on_in_order_exactly_once(
        CancellationToken cancellationToken
    )
    {
        await StartHostAsync(cancellationToken);
        await StartHostAsync(cancellationToken);

        var started = Stopwatch.GetTimestamp();
        await PublishAsync(1, Numbers, cancellationToken);
        await WaitAsync(
            async () =>
                Good().All(key => _backend.NumbersOf(key).Count == Numbers) && await ParkedAsync() == Poisoned * (Numbers - PoisonAt + 1),
            "to deliver the others and park the rest",
            cancellationToken
        );
        var took = Stopwatch.GetElapsedTime(started);
        var lines = await LinesAsync();
        var reached = Bad().Select(key => _backend.NumbersOf(key)).ToList();

        _refuses = false;
        foreach (var key in Bad())
            await _schema.Store.Parking.ReleaseAsync("ledger", key, cancellationToken);
        await PublishAsync(Numbers + 1, 5, cancellationToken); // arrive while the lines are released
        await WaitAsync(() => Task.FromResult(_backend.Applied.Count >= Keys * (Numbers + 5)), "to release the lines", cancellationToken);
        await WaitAsync(async () => await ParkedAsync() == 0, "to free the keys", cancellationToken);

        TestContext.Out.WriteLine(
            $"{Keys * Numbers} messages of {Keys} keys on 2 hosts in {took.TotalSeconds:F1} s, {Poisoned} keys parked at "
                + $"{PoisonAt}, then released with {Keys * 5} arrivals"
        );
        Assert.Multiple(() =>
        {
            Assert.That(reached, Is.All.EqualTo(Enumerable.Range(1, PoisonAt - 1)), "a parked key stopped before its poison");
            Assert.That(lines, Is.All.EqualTo(Enumerable.Range(PoisonAt, Numbers - PoisonAt + 1)), "the rest waited in order");
            foreach (var key in Good().Concat(Bad()))
                Assert.That(_backend.NumbersOf(key), Is.EqualTo(Enumerable.Range(1, Numbers + 5)), $"{key}: each once, in order");
        });
    }

    [Test, CancelAfter(240_000)]
    [OwnProcess]
    public async Task Delays_of_a_key_survive_the_death_of_their_host(CancellationToken cancellationToken)
    {
        // However long the host takes to die, each message waits for its next attempt then.
        var delays = ("ESB__ENDPOINTS__LEDGER__RETRY__DELAYS", $"[{string.Join(", ", Enumerable.Repeat("\"3s\"", 40))}]");
        var host = await StartHostAsync(cancellationToken, delays);
        _fails = true;
        await PublishAsync(1, 3, cancellationToken);
        await WaitAsync(async () => await ParkedAsync() == Keys * 3, "to park what fails", cancellationToken);

        host.Kill();
        await host.DisposeAsync();
        _fails = false;
        await StartHostAsync(cancellationToken, delays);
        await WaitAsync(() => Task.FromResult(_backend.Applied.Count >= Keys * 3), "to try again by itself", cancellationToken);

        foreach (var key in Good().Concat(Bad()))
            Assert.That(_backend.NumbersOf(key), Is.EqualTo(new[] { 1, 2, 3 }), key);
    }

    private static IEnumerable<string> Bad() => Enumerable.Range(0, Poisoned).Select(number => $"bad-{number}");

    private static IEnumerable<string> Good() => Enumerable.Range(0, Keys - Poisoned).Select(number => $"good-{number}");

    private static bool IsPoisoned(string key) => key.StartsWith("bad-", StringComparison.Ordinal);

    private async Task<RunningHost> StartHostAsync(CancellationToken cancellationToken, params (string Name, string Value)[] more)
    {
        var folder = Directory.CreateTempSubdirectory("esb-parking-");
        _folders.Add(folder);
        var configuration = Path.Combine(folder.FullName, "esb.json");
        await File.WriteAllTextAsync(
            configuration,
            $$"""
            {
              "name": "parking",
              "transport": { "type": "rabbitmq", "url": "${env:ESB_RABBITMQ}", "prefix": "{{_prefix}}" },
              "store": { "type": "postgres", "connection": "{{_schema.Config.Connection}}", "schema": "{{_schema.Config.Schema}}" },
              "topics": { "orders": { "key": { "header": "x-key" } } },
              "endpoints": {
                "door": { "type": "http-inbound", "path": "/orders", "publish": "orders.new" },
                "ledger": {
                  "type": "http-outbound", "url": "{{_backend.Url.OriginalString}}", "subscribe": ["orders.#"],
                  "delivery": "ordered-by-key", "lanes": 8, "processingThreads": 8, "poolSize": 8
                }
              }
            }
            """,
            cancellationToken
        );
        var variables = new Dictionary<string, string> { ["ESB_RABBITMQ"] = Servers.RabbitMq };
        foreach (var (name, value) in more)
            variables[name] = value;
        var host = await RunningHost.StartAsync(configuration, folder.FullName, cancellationToken, variables);
        _hosts.Add(host);
        return host;
    }

    // Number after number, so that the keys are mixed.
    private async Task PublishAsync(int from, int count, CancellationToken cancellationToken)
    {
        var host = _hosts[^1];
        for (var number = from; number < from + count; number++)
        {
            await Task.WhenAll(
                Good()
                    .Concat(Bad())
                    .Select(async key =>
                    {
                        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(host.Public, "/orders"))
                        {
                            Content = new StringContent($"{number}"),
                        };
                        request.Headers.Add("x-key", key);
                        using var response = await host.Client.SendAsync(request, cancellationToken);
                        Assert.That((int)response.StatusCode, Is.EqualTo(202), await response.Content.ReadAsStringAsync(cancellationToken));
                    })
            );
        }
    }

    private Task WaitAsync(Func<Task<bool>> condition, string what, CancellationToken cancellationToken) =>
        _hosts[^1].WaitAsync(_ => condition(), TimeSpan.FromSeconds(90), what, cancellationToken);

    private async Task<long> ParkedAsync() => (await _schema.QueryAsync<long>("select count(*) from parked_message")).Single();

    private async Task<List<IEnumerable<int>>> LinesAsync()
    {
        var lines = new List<IEnumerable<int>>();
        foreach (var key in Bad())
        {
            IReadOnlyList<ParkedMessage> line = await _schema.Store.Parking.MessagesAsync("ledger", key, 0, 1000, CancellationToken.None);
            lines.Add([
                .. line.Select(parked => int.Parse(parked.Message.Body.ReadText(), System.Globalization.CultureInfo.InvariantCulture)),
            ]);
        }

        return lines;
    }
}
