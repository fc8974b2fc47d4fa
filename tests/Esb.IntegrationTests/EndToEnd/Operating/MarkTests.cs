using System.Net;
using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd.Operating;

/// <summary>Marks of queues, sessions and instances: crossed and left again.</summary>
[CancelAfter(180_000)]
public sealed class MarkTests : MarkFixture
{
    private protected override Task<ServerSections> StartServersAsync() => ServerSections.ShareAsync();

    [Test]
    public async Task Queue_of_a_slow_endpoint_crosses_its_mark_an_endpoint_gets_the_alert_and_it_comes_back(
        CancellationToken cancellationToken
    )
    {
        for (var i = 0; i < 6; i++)
            await PostAsync("/orders", cancellationToken);
        await AwaitAsync("waiting", isCrossed: true, cancellationToken);
        var notices = await Host.AskAsync("/health/ready", cancellationToken);
        var metrics = await Host.ReadAsync("/metrics", cancellationToken);
        await Host.WaitAsync(_ => Task.FromResult(Alerts().Any()), TimeSpan.FromSeconds(60), "to deliver the alert", cancellationToken);
        var told = new[] { "kind", "name", "endpoint", "code", "reason" }.Select(name => Alerts().Single().GetProperty(name).GetString());
        Assert.That(
            told,
            Is.EqualTo(new[] { "mark", "marks", "ledger", "ESB-MARK-CROSSED", "waiting of endpoint ledger: 6 messages, marks 5 and 2" })
        );
        await EsbAsync(cancellationToken, "endpoints", "resume", "ledger");
        await AwaitAsync("waiting", isCrossed: false, cancellationToken);

        Assert.That(notices.GetRawText(), Does.Contain("ESB-MARK-CROSSED: waiting of endpoint ledger: 6 messages"));
        Assert.That(metrics, Does.Contain("esb_mark_crossed{").And.Contain("ledger"));
        Assert.That((await MarkAsync("waiting", cancellationToken)).GetProperty("crossings").GetInt64(), Is.EqualTo(1));
        await Host.WaitForLogAsync(cancellationToken, "High mark crossed", "Low mark reached");

        // That of the size of the database comes, too.
        IEnumerable<JsonElement> Alerts()
        {
            var alarms = Path.Combine(Folder, "alarms");
            return Directory.Exists(alarms)
                ? Directory
                    .GetFiles(alarms, "*.json")
                    .Select(file => JsonDocument.Parse(File.ReadAllText(file)).RootElement)
                    .Where(alert => alert.TryGetProperty("endpoint", out var endpoint) && endpoint.GetString() == "ledger")
                : [];
        }
    }

    [Test]
    public async Task Load_of_the_processor_is_a_metric(CancellationToken cancellationToken)
    {
        string? metrics = null;
        await Host.WaitAsync(
            async token => (metrics = await Host.ReadAsync("/metrics", token)).Contains("\nesb_processor_usage ", StringComparison.Ordinal),
            TimeSpan.FromSeconds(30),
            "to have measured the processor twice",
            cancellationToken
        );

        Assert.That(metrics!.Contains("\nesb_processor_queue ", StringComparison.Ordinal), Is.EqualTo(OperatingSystem.IsLinux()));
    }

    [Test]
    public async Task Callers_are_turned_away_while_all_sessions_are_in_use(CancellationToken cancellationToken)
    {
        var sleeping = Enumerable.Range(0, 3).Select(_ => PostAsync("/sleep", cancellationToken)).ToList();
        await AwaitAsync("sessions", isCrossed: true, cancellationToken);
        var turnedAway = await PostAsync("/quick", cancellationToken);
        var slept = await Task.WhenAll(sleeping);
        await AwaitAsync("sessions", isCrossed: false, cancellationToken);

        Assert.That(turnedAway, Is.EqualTo(HttpStatusCode.ServiceUnavailable));
        Assert.That(slept, Has.All.EqualTo(HttpStatusCode.OK), "what was under way finishes");
        Assert.That(await PostAsync("/quick", cancellationToken), Is.EqualTo(HttpStatusCode.OK));
    }

    [Test, Category("Thorough")]
    public async Task Open_instances_cross_their_mark(CancellationToken cancellationToken)
    {
        for (var i = 0; i < 3; i++)
            await PostAsync("/jobs", cancellationToken);

        await AwaitAsync("instances", isCrossed: true, cancellationToken);
        Assert.That((await MarkAsync("instances", cancellationToken)).GetProperty("value").GetDouble(), Is.EqualTo(3));
    }
}
