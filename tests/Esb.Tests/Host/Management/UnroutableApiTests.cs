using System.Net;
using System.Net.Http.Json;
using System.Text;
using System.Text.Json.Nodes;
using Esb.Core.Topics;
using Microsoft.Extensions.DependencyInjection;
using NSubstitute;

namespace Esb.Tests.Host.Management;

/// <summary>What nobody wants is shown, and replayed.</summary>
[CancelAfter(30_000)]
public sealed class UnroutableApiTests : ManagementFixture
{
    [Test]
    public async Task Unroutable_messages_are_shown_by_subject_and_replayed(CancellationToken cancellationToken)
    {
        var unroutable = Host.Services.GetRequiredService<IUnroutableMessages>();
        unroutable
            .SummarizeAsync(7, Arg.Any<CancellationToken>())
            .Returns(new UnroutableSummary(1_200, 7, [new UnroutableSubject("orders.lost", 7, DateTimeOffset.UnixEpoch)]));
        unroutable.ReplayAsync("orders.lost", 50, Arg.Any<CancellationToken>()).Returns(new UnroutableReplay(48, ["orders.never"]));

        var summary = (await Client.GetFromJsonAsync<JsonObject>("/api/unroutable?peek=7", cancellationToken))!;
        using var response = await Client.PostAsync(
            "/api/unroutable/replays",
            new StringContent("""{ "subject": "orders.lost", "limit": 50 }""", Encoding.UTF8, "application/json"),
            cancellationToken
        );
        var replay = JsonNode.Parse(await response.Content.ReadAsStringAsync(cancellationToken))!;

        Assert.That(
            ((int)summary["count"]!, (int)summary["peeked"]!, (string?)summary["subjects"]![0]!["subject"]),
            Is.EqualTo((1_200, 7, "orders.lost"))
        );
        Assert.That(
            (response.StatusCode, (int)replay["replayed"]!, (string?)replay["unroutable"]![0]),
            Is.EqualTo((HttpStatusCode.OK, 48, "orders.never"))
        );
    }

    [
        TestCase("""{ "subjekt": "orders.lost" }"""),
        TestCase("[]"),
        TestCase("{"),
        TestCase("""{ "limit": 0 }"""),
        TestCase("""{ "limit": 10001 }"""),
        TestCase("""{ "subject": "orders..x" }""")
    ]
    public async Task Replay_of_unroutable_messages_that_is_not_understood_is_refused(string body, CancellationToken cancellationToken)
    {
        using var response = await Client.PostAsync(
            "/api/unroutable/replays",
            new StringContent(body, Encoding.UTF8, "application/json"),
            cancellationToken
        );

        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.BadRequest));
        Assert.That(Host.Services.GetRequiredService<IUnroutableMessages>().ReceivedCalls(), Is.Empty);
    }
}
