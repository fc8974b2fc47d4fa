using System.Net;
using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd.Recording;

/// <summary>The orders sample with an activity: orders are received, priced and delivered; one never is.</summary>
[CancelAfter(180_000)]
[OwnProcess]
public abstract class ActivityContract
{
    private readonly List<RunningHost> _hosts = [];
    private DirectoryInfo _folder = null!;

    /// <summary>The sections <c>transport</c> and <c>store</c>.</summary>
    private protected abstract string Sections { get; }

    private protected virtual IReadOnlyDictionary<string, string> Variables => new Dictionary<string, string>();

    /// <summary>How many hosts share the work.</summary>
    private protected abstract int Hosts { get; }

    [SetUp]
    public void CreateFolder() => _folder = Directory.CreateTempSubdirectory("esb-activities-");

    [TearDown]
    public async Task StopHosts()
    {
        foreach (var host in _hosts)
            await host.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test, Category("Thorough")]
    public async Task Orders_are_followed_over_hosts_and_restarts_and_by_an_activity_that_is_configured_later(
        CancellationToken cancellationToken
    )
    {
        await StartAsync(["order"], cancellationToken);
        for (var number = 0; number < 10; number++)
            await OrderAsync(number, $"A-{number}", cancellationToken);
        await WaitForAsync(
            report => report.GetProperty("completed").GetInt64() == 10,
            "to follow ten orders to their end",
            cancellationToken
        );
        await Task.Delay(TimeSpan.FromSeconds(1.5), cancellationToken); // each second a host writes down how far it has told
        await OrderAsync(0, "LOST", cancellationToken); // nobody delivers it
        await WaitForAsync(report => report.GetProperty("started").GetInt64() == 11, "to see the eleventh", cancellationToken);

        foreach (var host in _hosts)
            host.Kill();
        foreach (var host in _hosts)
            await host.DisposeAsync();
        _hosts.Clear();
        await StartAsync(["order", "later"], cancellationToken);
        for (var number = 10; number < 20; number++)
            await OrderAsync(number, $"A-{number}", cancellationToken);
        await WaitForAsync(
            report => report.GetProperty("completed").GetInt64() == 20 && report.GetProperty("overdue").GetInt64() == 1,
            "to follow twenty orders, and miss one",
            cancellationToken
        );

        await AssertLearnsOfThePastAsync("later", cancellationToken);
        var report = await _hosts[0].AskAsync("/api/activities/order?bucket=1h", cancellationToken);
        var overdue = await _hosts[0].AskAsync("/api/activities/order/items?state=overdue", cancellationToken);
        var one = await _hosts[0].AskAsync("/api/activities/order/items?key=A-7", cancellationToken);
        TestContext.Out.WriteLine($"{report}\n{overdue}\n{one}");
        var found = one.GetProperty("items")[0];
        Assert.Multiple(() =>
        {
            Assert.That(report.GetProperty("started").GetInt64(), Is.EqualTo(21));
            Assert.That(report.GetProperty("inProgress").GetInt64(), Is.EqualTo(1));
            Assert.That(
                report.GetProperty("durations").EnumerateArray().Select(step => step.GetProperty("count").GetInt64()),
                Is.EqualTo(new[] { 21, 20, 20 })
            );
            Assert.That(
                report.GetProperty("buckets").EnumerateArray().Sum(bucket => bucket.GetProperty("started").GetInt64()),
                Is.EqualTo(21)
            );
            Assert.That(
                overdue.GetProperty("items").EnumerateArray().Select(item => item.GetProperty("key").GetString()),
                Is.EqualTo(new[] { "LOST" })
            );
            Assert.That(found.GetProperty("state").GetString(), Is.EqualTo("completed"));
            Assert.That(found.GetProperty("data").GetProperty("total").GetString(), Is.EqualTo("24.90"));
            Assert.That(
                found.GetProperty("milestones").EnumerateObject().Select(milestone => milestone.Name),
                Is.EquivalentTo(new[] { "received", "priced", "delivered" })
            );
        });
    }

    private async Task AssertLearnsOfThePastAsync(string activity, CancellationToken cancellationToken)
    {
        var before = await CountsAsync(activity, cancellationToken);
        var first = (await _hosts[^1].TellAsync("/api/activities/rebuild", cancellationToken)).GetProperty("facts").GetInt64();
        var after = await CountsAsync(activity, cancellationToken);
        var second = (await _hosts[0].TellAsync("/api/activities/rebuild", cancellationToken)).GetProperty("facts").GetInt64();

        Assert.That(
            before.Started,
            Is.InRange(10, 20),
            "what came since it was configured, and no more than a host had not yet told when it was killed"
        );
        Assert.That(after, Is.EqualTo((21, 20)), "all that the audit knows of");
        Assert.That(second, Is.EqualTo(first).And.GreaterThan(0));
        Assert.That(await CountsAsync(activity, cancellationToken), Is.EqualTo(after), "nothing counts twice");
        Assert.That(await CountsAsync("order", cancellationToken), Is.EqualTo(after), "nor where it was known");
    }

    private async Task<(long Started, long Completed)> CountsAsync(string activity, CancellationToken cancellationToken)
    {
        var report = await _hosts[^1].AskAsync($"/api/activities/{activity}", cancellationToken);
        return (report.GetProperty("started").GetInt64(), report.GetProperty("completed").GetInt64());
    }

    private async Task StartAsync(string[] activities, CancellationToken cancellationToken)
    {
        const string Followed = """
            {
              "key": "order",
              "data": ["total"],
              "overdueAfter": "2s",
              "milestones": [
                { "name": "received", "when": { "kind": "received", "endpoint": "shop" } },
                { "name": "priced", "when": { "name": "order-priced" } },
                { "name": "delivered", "when": { "kind": "delivered", "endpoint": "warehouse" } }
              ]
            }
            """;
        for (var number = 0; number < Hosts; number++)
        {
            var folder = _folder.CreateSubdirectory($"host-{number}").FullName;
            await File.WriteAllTextAsync(
                Path.Combine(folder, "esb.json"),
                $$"""
                {
                  "name": "orders",
                  {{Sections}}
                  "topics": { "orders": {} },
                  "endpoints": {
                    "shop": { "type": "http-inbound", "path": "/orders", "process": "receive-order" },
                    "warehouse": { "type": "file-outbound", "subscribe": ["orders.accepted"], "folder": {{JsonSerializer.Serialize(
                    Path.Combine(_folder.FullName, "warehouse")
                )}}, "ifExists": "replace", "fileName": "{header.x-order}.xml" },
                    "lost": { "type": "file-outbound", "subscribe": ["orders.lost"], "folder": {{JsonSerializer.Serialize(
                    Path.Combine(_folder.FullName, "lost")
                )}}, "fileName": "{message.id}.xml" }
                  },
                  "processes": {
                    "receive-order": [
                      { "set": { "headers": { "x-order": { "xpath": "/order/@id" } } } },
                      { "audit": { "as": "order-priced", "fields": { "order": { "xpath": "/order/@id" }, "total": { "xpath": "/order/total" } } } },
                      { "choose": { "when": [{ "if": { "header": "x-order", "equals": "LOST" }, "steps": [{ "publish": "orders.lost" }] }], "otherwise": [{ "publish": "orders.accepted" }] } }
                    ]
                  },
                  "activities": { {{string.Join(", ", activities.Select(activity => $"\"{activity}\": {Followed}"))}} }
                }
                """,
                cancellationToken
            );
            _hosts.Add(await RunningHost.StartAsync("esb.json", folder, cancellationToken, Variables));
        }
    }

    private async Task OrderAsync(int number, string id, CancellationToken cancellationToken)
    {
        using var response = await _hosts[number % _hosts.Count]
            .PostAsync("/orders", $"""<order id="{id}"><total>24.90</total></order>""", "application/xml", cancellationToken);
        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
    }

    private Task WaitForAsync(Func<JsonElement, bool> condition, string what, CancellationToken cancellationToken) =>
        _hosts[^1]
            .WaitAsync(
                async token => condition(await _hosts[^1].AskAsync("/api/activities/order", token)),
                TimeSpan.FromSeconds(60),
                what,
                cancellationToken
            );
}
