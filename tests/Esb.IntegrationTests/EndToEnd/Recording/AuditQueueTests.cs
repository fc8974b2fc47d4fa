using System.Net;
using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.IntegrationTests.Storage;

namespace Esb.IntegrationTests.EndToEnd.Recording;

/// <summary>While the database of the audit is away, operators see how much waits for it, and since when.</summary>
[CancelAfter(120_000)]
public sealed class AuditQueueTests
{
    private DirectoryInfo _folder = null!;
    private PrivatePostgres _database = null!;
    private RunningHost _host = null!;

    [SetUp]
    public async Task StartHost()
    {
        _folder = Directory.CreateTempSubdirectory("esb-audit-queue-");
        _database = await PrivatePostgres.StartAsync();
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            """
            { "transport": { "type": "memory" },
              "store": { "type": "postgres", "connection": "${env:ESB_POSTGRES}" },
              "endpoints": { "shop": { "type": "http-inbound", "path": "/orders", "process": "take" } },
              "processes": { "take": [{ "audit": "taken" }] } }
            """
        );
        _host = await RunningHost.StartAsync(
            "esb.json",
            _folder.FullName,
            CancellationToken.None,
            new Dictionary<string, string> { ["ESB_POSTGRES"] = _database.Connection }
        );
    }

    [TearDown]
    public async Task StopHost()
    {
        await _host.DisposeAsync();
        await _database.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test, Category("Thorough")]
    public async Task Facts_that_wait_and_the_age_of_the_oldest_grow_while_the_database_is_away_and_are_gone_when_it_is_back(
        CancellationToken cancellationToken
    )
    {
        await _database.KillAsync();
        for (var order = 0; order < 5; order++)
        {
            using var answer = await _host.PostAsync("/orders", $$"""{"order":{{order}}}""", "application/json", cancellationToken);
            Assert.That(answer.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
        }

        var first = await WaitAsync(
            queue => queue.GetProperty("waiting").GetInt64() == 15 && Age(queue) is not null,
            "to say that 15 facts wait",
            cancellationToken
        ); // received, recorded, completed
        var second = await WaitAsync(queue => Age(queue) >= Age(first) + 1, "to say that they grow older", cancellationToken);
        var (_, shown, _) = await CommandLine.RunAsync(
            _folder.FullName,
            cancellationToken,
            "metrics",
            "--url",
            _host.Management.OriginalString
        );
        var prometheus = await _host.ReadAsync("/api/metrics?format=prometheus", cancellationToken);
        await _database.StartAgainAsync();
        var last = await WaitAsync(queue => queue.GetProperty("waiting").GetInt64() == 0, "to move them", cancellationToken);

        Assert.That(second.GetProperty("bytes").GetInt64(), Is.InRange(1, second.GetProperty("maxBytes").GetInt64()));
        Assert.That(shown, Does.Match(@"15 audit facts wait for their store, the oldest for [0-9.]+ s"));
        Assert.That(prometheus, Does.Contain("esb_audit_queue_length 15").And.Match("esb_audit_queue_age_seconds [1-9]"));
        Assert.That(Age(last), Is.Null);
    }

    private async Task<JsonElement> WaitAsync(Func<JsonElement, bool> holds, string what, CancellationToken cancellationToken)
    {
        var queue = default(JsonElement);
        await _host.WaitAsync(
            async token => holds(queue = (await _host.AskAsync("/api/metrics", token)).GetProperty("auditQueue")),
            TimeSpan.FromSeconds(60),
            what,
            cancellationToken
        );
        return queue;
    }

    private static double? Age(JsonElement queue) =>
        queue.TryGetProperty("oldestAge", out var age) && age.ValueKind == JsonValueKind.Number ? age.GetDouble() : null;
}
