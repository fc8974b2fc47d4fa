using System.Net;
using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd.Operating;

/// <summary>Each counter means what operators of the older products know it to mean: known traffic, an outside that takes 100 ms, and what
/// /api/metrics says of it.</summary>
[CancelAfter(120_000)]
[OwnProcess]
public sealed class MetricsTests
{
    private const int Orders = 50;
    private const double Slow = 0.1;

    private DirectoryInfo _folder = null!;
    private OrderBackend _backend = null!;
    private RunningHost _host = null!;
    private JsonElement _metrics;

    [OneTimeSetUp]
    public async Task SendOrders()
    {
        _folder = Directory.CreateTempSubdirectory("esb-metrics-");
        _backend = await OrderBackend.StartAsync(
            async (_, _) =>
            {
                await Task.Delay(TimeSpan.FromSeconds(Slow));
                return 200;
            }
        );
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            $$"""
            {
              "topics": { "orders": {} },
              "parties": { "erp": { "apiKeys": ["${env:ERP_KEY}"], "publish": ["orders.#"] } },
              "endpoints": {
                "shop": { "type": "http-inbound", "path": "/orders", "publish": "orders.new" },
                "quotes": { "type": "http-inbound", "path": "/quotes", "mode": "request-reply", "process": "quote", "authentication": ["api-key"] },
                "relayed": { "type": "http-inbound", "path": "/relayed", "relay": "stock" },
                "ledger": { "type": "http-outbound", "subscribe": ["orders.#"], "url": "{{_backend.Url}}", "poolSize": 2, "processingThreads": 4 },
                "stock": { "type": "http-outbound", "url": "{{_backend.Url}}", "poolSize": 4 }
              },
              "processes": { "quote": [{ "audit": { "as": "asked", "maximumInstances": 7 } }, { "call": "stock" }] }
            }
            """
        );
        _host = await RunningHost.StartAsync(
            "esb.json",
            _folder.FullName,
            CancellationToken.None,
            new Dictionary<string, string> { ["ERP_KEY"] = "0123456789abcdef" }
        );
        await Task.WhenAll(Enumerable.Range(0, Orders).Select(number => PostAsync("/orders", $"{number}", HttpStatusCode.Accepted)));
        await Task.WhenAll(Enumerable.Range(0, 4).Select(number => PostAsync("/quotes", $"{number}", HttpStatusCode.OK)));
        await PostAsync("/relayed", "1", HttpStatusCode.OK);
        await _host.WaitAsync(
            async token =>
                Find(await _host.AskAsync("/api/metrics", token), "endpoints", "ledger") is { } ledger
                && ledger.GetProperty("documentsOut").GetProperty("total").GetInt64() >= Orders,
            TimeSpan.FromSeconds(30),
            "to deliver all",
            CancellationToken.None
        );
        _metrics = await _host.AskAsync("/api/metrics", CancellationToken.None);
        TestContext.Progress.WriteLine(_metrics.ToString());
    }

    [OneTimeTearDown]
    public async Task StopHost()
    {
        await _host.DisposeAsync();
        await _backend.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test]
    public void Documents_are_counted_once_where_they_come_in_and_once_where_they_go_out()
    {
        Assert.Multiple(() =>
        {
            Assert.That(Number("endpoints", "shop", "documentsIn", "total"), Is.EqualTo(Orders));
            Assert.That(Number("topics", "orders", "documentsIn", "total"), Is.EqualTo(Orders));
            Assert.That(Number("topics", "orders", "documentsOut", "total"), Is.EqualTo(Orders));
            Assert.That(Number("endpoints", "ledger", "documentsOut", "total"), Is.EqualTo(Orders));
            Assert.That(Number("endpoints", "quotes", "documentsIn", "total"), Is.EqualTo(4));
            Assert.That(Number("endpoints", "stock", "documentsOut", "total"), Is.EqualTo(5), "four calls and a relay");
            Assert.That(Number("parties", "erp", "documentsIn", "total"), Is.EqualTo(4));
            Assert.That(_metrics.GetProperty("total").GetProperty("documentsIn").GetProperty("total").GetInt64(), Is.EqualTo(Orders + 5));
        });
    }

    [Test]
    public void Adapter_that_takes_its_time_shows_in_adapter_latency_and_not_in_inbound_latency()
    {
        Assert.Multiple(() =>
        {
            Assert.That(Number("endpoints", "ledger", "outboundAdapterLatency", "count"), Is.EqualTo(Orders));
            Assert.That(Number("endpoints", "ledger", "outboundAdapterLatency", "p50"), Is.EqualTo(Slow).Within(0.06));
            Assert.That(Number("endpoints", "shop", "inboundLatency", "count"), Is.EqualTo(Orders));
            Assert.That(Find(_metrics, "endpoints", "shop")!.Value.TryGetProperty("outboundAdapterLatency", out _), Is.False);
            Assert.That(
                Find(_metrics, "endpoints", "quotes")!.Value.TryGetProperty("inboundLatency", out _),
                Is.False,
                "nothing was published"
            );
        });
    }

    [Test]
    public void Waiting_for_an_instance_shows_in_outbound_latency_and_not_inside_of_the_adapter()
    {
        // Four threads share two instances: every second delivery waits for a whole one.
        Assert.That(
            Number("endpoints", "ledger", "outboundLatency", "mean"),
            Is.GreaterThan(Number("endpoints", "ledger", "outboundAdapterLatency", "mean") * 1.5)
        );
        Assert.That(Usage("instances", "endpoint ledger").GetProperty("waits").GetInt64(), Is.GreaterThan(Orders / 4));
        Assert.That(Usage("instances", "endpoint ledger").GetProperty("peakShare").GetDouble(), Is.EqualTo(1));
    }

    [Test]
    public void Request_and_response_are_measured_as_the_caller_sees_them()
    {
        Assert.Multiple(() =>
        {
            Assert.That(Number("endpoints", "quotes", "requestResponseLatency", "count"), Is.EqualTo(4));
            Assert.That(Number("endpoints", "quotes", "requestResponseLatency", "p50"), Is.GreaterThanOrEqualTo(Slow * 0.9));
            Assert.That(Number("endpoints", "relayed", "requestResponseLatency", "p50"), Is.GreaterThanOrEqualTo(Slow * 0.9));
            Assert.That(Number("parties", "erp", "requestResponseLatency", "count"), Is.EqualTo(4));
            Assert.That(
                Find(_metrics, "endpoints", "shop")!.Value.TryGetProperty("requestResponseLatency", out _),
                Is.False,
                "nobody waits for an answer there"
            );
        });
    }

    [Test]
    public void Calls_show_their_peak_and_the_share_of_the_most_there_may_be()
    {
        var shop = Usage("calls", "shop");

        Assert.That(shop.GetProperty("maximum").GetInt32(), Is.EqualTo(200));
        Assert.That(shop.GetProperty("peak").GetInt32(), Is.InRange(1, Orders));
        Assert.That(Usage("calls", "ledger").GetProperty("peak").GetInt32(), Is.EqualTo(4), "its processing threads");
    }

    [Test]
    public void Pools_of_the_audit_show_what_of_their_maximum_was_in_use()
    {
        var (step, service) = (Usage("instances", "audit step asked of quote"), Usage("instances", "the audit service"));

        Assert.That(step.GetProperty("maximum").GetInt32(), Is.EqualTo(7));
        Assert.That(step.GetProperty("peak").GetInt32(), Is.InRange(1, 4), "four quotes");
        Assert.That(step.GetProperty("created").GetInt32(), Is.EqualTo(step.GetProperty("peak").GetInt32()));
        Assert.That(service.GetProperty("peak").GetInt32(), Is.InRange(1, step.GetProperty("peak").GetInt32()));
        Assert.That(
            service.GetProperty("peakShare").GetDouble(),
            Is.EqualTo(service.GetProperty("peak").GetInt32() / service.GetProperty("maximum").GetDouble()).Within(0.0001)
        );
        Assert.That(_metrics.TryGetProperty("auditQueue", out _), Is.False, "the audit is kept in files: nothing waits");
    }

    [Test]
    public async Task Command_shows_the_same_as_a_table(CancellationToken cancellationToken)
    {
        var (exitCode, output, error) = await CommandLine.RunAsync(
            _folder.FullName,
            cancellationToken,
            "metrics",
            "--url",
            _host.Management.OriginalString
        );

        Assert.That(exitCode, Is.Zero, error);
        Assert.That(output, Does.Match($@"endpoint\s+ledger\s+-\s+-\s+{Orders}\s").And.Match(@"instances\s+endpoint ledger\s"));
    }

    private static JsonElement? Find(JsonElement metrics, string set, string name)
    {
        var found = metrics.GetProperty(set).EnumerateArray().Where(one => one.GetProperty("name").GetString() == name).ToList();
        return found.Count == 0 ? null : found.Single();
    }

    private double Number(string set, string name, string measure, string value) =>
        Find(_metrics, set, name)!.Value.GetProperty(measure).GetProperty(value).GetDouble();

    private JsonElement Usage(string set, string name) => Find(_metrics, set, name)!.Value;

    private async Task PostAsync(string path, string body, HttpStatusCode expected)
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(_host.Public, path)) { Content = new StringContent(body) };
        request.Headers.Add("X-Api-Key", "0123456789abcdef");
        using var response = await _host.Client.SendAsync(request);
        Assert.That(response.StatusCode, Is.EqualTo(expected), path);
    }
}
