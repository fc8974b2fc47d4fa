using System.Text.Json.Nodes;
using Esb.Core.Audit;
using Esb.Tests.Host.Management;

namespace Esb.Tests.Host.Commands;

/// <summary>The audit is searched at a running host, or in the store of a configuration.</summary>
[CancelAfter(30_000)]
public sealed class AuditSearchCommandTests : CommandLineFixture
{
    [Test]
    public async Task Audit_is_searched_at_a_running_host(CancellationToken cancellationToken)
    {
        await using var host = await RunningManagement.StartAsync(cancellationToken);
        var fact = new AuditFact
        {
            Id = Guid.CreateVersion7(),
            Kind = AuditKind.DeadLettered,
            Time = new DateTimeOffset(2026, 1, 31, 8, 0, 0, TimeSpan.Zero),
            MessageId = Guid.CreateVersion7(),
            ConversationId = Guid.CreateVersion7(),
            Endpoint = "ledger",
            Code = "ESB-FILE-FULL",
            Fields = new Dictionary<string, string> { ["total"] = "1.5" },
        };
        host.Store.Facts.Add(fact);

        Assert.That(await AskAsync(host, "audit", "find", "--where", "total=1.5", "--where", "a=b=c", "--limit", "7"), Is.Zero, Error);
        Assert.That(
            Output,
            Does.StartWith("TIME ")
                .And.Match($"(?m)^2026-01-31 08:00:00.000.00:00 +dead-lettered +{fact.MessageId} +ledger +- +ESB-FILE-FULL total=1.5")
        );
        Assert.That(host.Store.Asked!.Where, Is.EqualTo(new Dictionary<string, string> { ["total"] = "1.5", ["a"] = "b=c" }));
        Assert.That(host.Store.Asked.Limit, Is.EqualTo(7));

        ForgetOutput();
        Assert.That(await AskAsync(host, "audit", "show", fact.MessageId.ToString(), "--json"), Is.Zero, Error);
        Assert.That((string?)JsonNode.Parse(Output)![0]!["code"], Is.EqualTo("ESB-FILE-FULL"));
    }

    [Test, Property("Case", "CLI-06")]
    public async Task Database_that_is_away_is_named_without_its_password()
    {
        var path = Write(
            """{ "store": { "type": "postgres", "connection": "Host=127.0.0.1;Port=1;Username=me;Password=${env:DB_PASSWORD}" } }"""
        );

        var exitCode = await RunWithAsync(new() { ["DB_PASSWORD"] = "s3cret" }, "audit", "find", "--config", path);

        Assert.That(exitCode, Is.EqualTo(5));
        Assert.That(Error, Does.StartWith("ESB-STORE-AWAY").And.Contains("127.0.0.1:1").And.Not.Contain("s3cret"));
    }

    [Test]
    public async Task Audit_is_searched_in_the_store_of_a_configuration()
    {
        var path = Write($$"""{ "store": { "type": "file", "folder": "{{Path.Combine(Folder, "store")}}" } }""");

        Assert.That(await RunAsync("audit", "find", "--config", path), Is.Zero, Error);
        Assert.That(Error, Does.Contain("Nothing is recorded of that."));
        Assert.That(await RunAsync("audit", "show", Guid.NewGuid().ToString(), "--config", path), Is.EqualTo(2));
    }
}
