using System.Net;
using System.Net.Http.Json;
using System.Text;
using System.Text.Json.Nodes;
using Esb.Core.Audit;

namespace Esb.Tests.Host.Management;

/// <summary>Recorded messages are found, and shown with their bodies.</summary>
[CancelAfter(30_000)]
public sealed class MessageListApiTests : ManagementFixture
{
    [Test]
    public async Task Messages_are_found_by_their_fields_page_by_page(CancellationToken cancellationToken)
    {
        Host.Store.Facts.AddRange([Fact("A-1001"), Fact("A-1002")]);

        var page = await Client.GetFromJsonAsync<JsonObject>(
            "/api/messages?where=order=A-1001&where=total=5=5&endpoint=shop&kind=dead-lettered&limit=1&from=2026-01-31T08:00:00Z",
            cancellationToken
        );

        Assert.That(Host.Store.Asked!.Where, Is.EqualTo(new Dictionary<string, string> { ["order"] = "A-1001", ["total"] = "5=5" }));
        Assert.That(Host.Store.Asked.Kind, Is.EqualTo(AuditKind.DeadLettered));
        Assert.That(Host.Store.Asked.From, Is.EqualTo(new DateTimeOffset(2026, 1, 31, 8, 0, 0, TimeSpan.Zero)));
        Assert.That(page!["items"]!.AsArray(), Has.Count.EqualTo(1));
        Assert.That((string?)page["next"], Is.EqualTo(Host.Store.Facts[0].Id.ToString()));
    }

    [Test]
    public async Task List_leaves_bodies_out_and_the_journey_shows_them(CancellationToken cancellationToken)
    {
        var fact = Fact("A-1001") with { Body = Encoding.UTF8.GetBytes("<order/>") };
        Host.Store.Facts.Add(fact);

        var list = await Client.GetStringAsync("/api/messages", cancellationToken);
        var journey = await Client.GetFromJsonAsync<JsonObject>($"/api/messages/{fact.MessageId}", cancellationToken);

        Assert.That(list, Does.Not.Contain("<order/>").And.Contains("\"bodyBytes\":8"));
        Assert.That((string?)journey!["items"]![0]!["body"], Is.EqualTo("<order/>"));
        Assert.That((string?)journey["items"]![0]!["kind"], Is.EqualTo("recorded"));
    }

    [Test]
    public async Task Journey_of_an_unknown_message_is_not_found(CancellationToken cancellationToken) =>
        Assert.That(
            (await Client.GetAsync($"/api/messages/{Guid.NewGuid()}", cancellationToken)).StatusCode,
            Is.EqualTo(HttpStatusCode.NotFound)
        );

    private static AuditFact Fact(string order)
    {
        var now = DateTimeOffset.UnixEpoch;
        return new AuditFact
        {
            Id = Guid.CreateVersion7(now),
            Kind = AuditKind.Recorded,
            Time = now,
            MessageId = Guid.CreateVersion7(now),
            ConversationId = Guid.CreateVersion7(now),
            Fields = new Dictionary<string, string> { ["order"] = order },
        };
    }
}
