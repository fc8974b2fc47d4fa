using System.Net;
using System.Net.Http.Json;
using System.Text;
using System.Text.Json.Nodes;
using System.Xml.Linq;
using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Replays;
using Esb.Core.Storage;
using Esb.Tests.Audit.Journeys;
using Microsoft.Extensions.DependencyInjection;
using NSubstitute;

namespace Esb.Tests.Host.Management;

[CancelAfter(30_000)]
public sealed class MessageApiTests
{
    private RunningManagement _host = null!;
    private IAuditReplayDesk _desk = null!;

    private HttpClient Client => _host.Client;

    [SetUp]
    public async Task Start()
    {
        _host = await RunningManagement.StartAsync(CancellationToken.None);
        _desk = _host.Services.GetRequiredService<IAuditReplayDesk>();
        _desk.ObstacleAt(null!, false).ReturnsForAnyArgs((EsbException?)null);
        _desk
            .ReplayAsync(null!, null!, default)
            .ReturnsForAnyArgs(call => new AuditReplay(
                call.Arg<AuditReplayRequest>().MessageId,
                call.Arg<AuditReplayRequest>().Endpoint,
                Guid.NewGuid(),
                DateTimeOffset.UnixEpoch
            ));
    }

    [TearDown]
    public async Task Stop() => await _host.DisposeAsync();

    [Test]
    public async Task Every_way_to_find_a_message_reaches_the_store(CancellationToken cancellationToken)
    {
        var (id, before, trace) = (Guid.NewGuid(), Guid.NewGuid(), new string('a', 32));

        await Client.GetStringAsync(
            $"/api/messages?id={id}&process=receive-order&party=shop&trace={trace}&failed=true&to=2026-01-31&before={before}",
            cancellationToken
        );

        var asked = _host.Store.Asked!;
        Assert.That(
            (asked.MessageId, asked.Process, asked.Party, asked.TraceId, asked.OnlyFailures, asked.To, asked.Before),
            Is.EqualTo(
                (
                    (Guid?)id,
                    "receive-order",
                    "shop",
                    trace,
                    true,
                    (DateTimeOffset?)new DateTimeOffset(2026, 1, 31, 0, 0, 0, TimeSpan.Zero),
                    (Guid?)before
                )
            )
        );
        Assert.That(asked.WithBodies, Is.False);
    }

    [Test]
    public async Task Journey_is_a_tree_with_durations_and_has_its_facts_beside_it(CancellationToken cancellationToken)
    {
        _host.Store.Facts.AddRange(Stories.RetryAndReplay().Facts);

        var journey = (await Client.GetFromJsonAsync<JsonObject>($"/api/messages/{Story.MessageId(1)}", cancellationToken))!;

        var message = journey["messages"]![0]!;
        var delivery = message["stages"]!.AsArray()[^1]!;
        using (Assert.EnterMultipleScope())
        {
            Assert.That((string?)journey["state"], Is.EqualTo("delivered"));
            Assert.That((double)journey["durationSeconds"]!, Is.EqualTo(3610.04).Within(0.01));
            Assert.That(
                (double)journey["workingSeconds"]! + (double)journey["waitingSeconds"]!,
                Is.EqualTo((double)journey["durationSeconds"]!).Within(1e-6)
            );
            Assert.That(
                ((string?)delivery["kind"], (string?)delivery["endpoint"], (string?)delivery["state"]),
                Is.EqualTo(("delivery", "shop", "delivered"))
            );
            Assert.That(
                delivery["events"]!.AsArray().Select(happened => (string?)happened!["kind"]),
                Is.EqualTo(new[] { "failed", "failed", "dead-lettered", "replayed", "delivered" })
            );
            Assert.That((int?)delivery["events"]![4]!["replay"], Is.EqualTo(1));
            Assert.That((string?)delivery["events"]![1]!["host"], Is.EqualTo(Story.HostB));
            Assert.That(message["caused"]!.AsArray(), Is.Empty);
            Assert.That(journey["items"]!.AsArray(), Has.Count.EqualTo(8));
            Assert.That((string?)journey["items"]![0]!["revision"], Is.EqualTo("3f2a9c1d0b7e"));
        }
    }

    [
        TestCase("text", "text/plain", "delivered after 1 h 00 min"),
        TestCase("mermaid", "text/plain", "sequenceDiagram"),
        TestCase("svg", "image/svg+xml", "<svg")
    ]
    public async Task Journey_is_drawn(string format, string type, string text, CancellationToken cancellationToken)
    {
        _host.Store.Facts.AddRange(Stories.RetryAndReplay().Facts);

        using var response = await Client.GetAsync($"/api/messages/{Story.MessageId(1)}?format={format}", cancellationToken);
        var drawing = await response.Content.ReadAsStringAsync(cancellationToken);

        Assert.That(response.Content.Headers.ContentType!.MediaType, Is.EqualTo(type));
        Assert.That(drawing, Does.Contain(text));
        if (format == "svg")
            Assert.That(XDocument.Parse(drawing).Root!.Name.LocalName, Is.EqualTo("svg"));
    }

    [TestCase("?format=pdf"), TestCase("?fromat=svg")]
    public async Task Drawing_that_there_is_not_is_refused(string query, CancellationToken cancellationToken) =>
        Assert.That(
            (await Client.GetAsync($"/api/messages/{Story.MessageId(1)}{query}", cancellationToken)).StatusCode,
            Is.EqualTo(HttpStatusCode.BadRequest)
        );

    [Test]
    public async Task Replay_of_a_message_is_asked_for_with_who_and_why(CancellationToken cancellationToken)
    {
        var id = Guid.NewGuid();
        using var request = new HttpRequestMessage(HttpMethod.Post, $"/api/messages/{id}/replay")
        {
            Content = Json("""{ "endpoint": "shop", "again": true, "reason": "mended" }"""),
        };
        request.Headers.Add("X-Esb-Operator", "ada");
        request.Headers.Add("Idempotency-Key", "monday");

        using var response = await Client.SendAsync(request, cancellationToken);

        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
        await _desk
            .Received(1)
            .ReplayAsync(
                new AuditReplayRequest
                {
                    MessageId = id,
                    Endpoint = "shop",
                    Again = true,
                    Command = "monday",
                },
                new OperatorDecision("ada", "mended"),
                Arg.Any<CancellationToken>()
            );
    }

    [
        TestCase("/replay", "{}"),
        TestCase("/replay", """{ "endpoint": "shop", "bodi": 1 }"""),
        TestCase("s", "{}"),
        TestCase("s", """{ "filter": {} }"""),
        TestCase("s", """{ "filter": {}, "endpoint": "shop", "limit": 0 }"""),
        TestCase("s", """{ "filter": { "kind": "failed", "failed": true }, "endpoint": "shop" }"""),
        TestCase("s", """{ "filter": {}, "endpoint": "shop", "again": true }""")
    ]
    public async Task Replay_that_is_not_understood_is_refused(string path, string body, CancellationToken cancellationToken)
    {
        var route = path == "s" ? "/api/messages/replays" : $"/api/messages/{Guid.NewGuid()}{path}";
        using var response = await Client.PostAsync(route, Json(body), cancellationToken);

        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.BadRequest));
        await _desk.DidNotReceiveWithAnyArgs().ReplayAsync(null!, null!, default);
    }

    [Test, Property("Case", "AUD-07")]
    public async Task Filter_that_finds_many_messages_needs_a_limit_and_is_replayed_part_by_part(CancellationToken cancellationToken)
    {
        for (var message = 2_500; message >= 1; message--)
            _host.Store.Facts.Add(Fact(message));

        var preview = await PostAsync("/replays/preview", """{ "filter": { "failed": true }, "endpoint": "shop" }""", cancellationToken);
        using var refused = await Client.PostAsync(
            "/api/messages/replays",
            Json("""{ "filter": { "failed": true }, "endpoint": "shop" }"""),
            cancellationToken
        );
        await _desk.DidNotReceiveWithAnyArgs().ReplayAsync(null!, null!, default);
        var first = await PostAsync(
            "/replays",
            """{ "filter": { "failed": true }, "endpoint": "shop", "limit": 1200 }""",
            cancellationToken
        );
        var second = await PostAsync(
            "/replays",
            $$"""{ "filter": { "failed": true }, "endpoint": "shop", "limit": 200, "before": "{{first["next"]}}" }""",
            cancellationToken
        );

        var sent = _desk
            .ReceivedCalls()
            .Where(call => call.GetMethodInfo().Name == nameof(IAuditReplayDesk.ReplayAsync))
            .Select(call => ((AuditReplayRequest)call.GetArguments()[0]!).MessageId)
            .ToList();
        using (Assert.EnterMultipleScope())
        {
            Assert.That(((int)preview["messages"]!, (bool)preview["hasMore"]!), Is.EqualTo((2_500, false)));
            Assert.That(
                await refused.Content.ReadAsStringAsync(cancellationToken),
                Does.Contain("ESB-RPL-LIMIT").And.Contain("more than 1000 messages")
            );
            Assert.That(((int)first["replayed"]!, (int)second["replayed"]!), Is.EqualTo((1_000, 200)));
            Assert.That(sent, Is.EqualTo(Enumerable.Range(1_301, 1_200).Reverse().Select(Story.MessageId)), "the newest first, each once");
        }
    }

    [Test, Property("Case", "AUD-07")]
    public async Task Message_whose_facts_lie_in_two_parts_counts_once(CancellationToken cancellationToken)
    {
        // Newest first: the first part ends before message 500, and what 1,000 messages failed with before lies behind it.
        for (var message = 1_500; message >= 500; message--)
            _host.Store.Facts.Add(Fact(message) with { Id = FactId(5_000 + message) });
        for (var message = 1_500; message >= 501; message--)
            _host.Store.Facts.Add(Fact(message) with { Id = FactId(2_000 + message) });
        for (var message = 499; message >= 1; message--)
            _host.Store.Facts.Add(Fact(message) with { Id = FactId(message) });

        var first = await PostAsync(
            "/replays",
            """{ "filter": { "failed": true }, "endpoint": "shop", "limit": 1200 }""",
            cancellationToken
        );
        var second = await PostAsync(
            "/replays",
            $$"""{ "filter": { "failed": true }, "endpoint": "shop", "limit": 200, "before": "{{first["next"]}}", "first": "{{first["first"]}}" }""",
            cancellationToken
        );

        var sent = _desk
            .ReceivedCalls()
            .Where(call => call.GetMethodInfo().Name == nameof(IAuditReplayDesk.ReplayAsync))
            .Select(call => ((AuditReplayRequest)call.GetArguments()[0]!).MessageId)
            .ToList();
        Assert.That(((int)first["replayed"]!, (int)second["replayed"]!), Is.EqualTo((1_000, 200)));
        Assert.That(sent, Is.EqualTo(Enumerable.Range(301, 1_200).Reverse().Select(Story.MessageId)), "the newest first, each once");
    }

    [Test]
    public async Task Message_that_cannot_be_replayed_does_not_stop_the_others(CancellationToken cancellationToken)
    {
        for (var message = 3; message >= 1; message--)
            _host.Store.Facts.Add(Fact(message));
        _desk
            .ReplayAsync(
                Arg.Is<AuditReplayRequest>(request => request.MessageId == Story.MessageId(2)),
                Arg.Any<OperatorDecision>(),
                Arg.Any<CancellationToken>()
            )
            .Returns(Task.FromException<AuditReplay>(new EsbException("ESB-RPL-STATE", "Its body was erased.", FaultKind.Invalid)));

        var receipt = await PostAsync("/replays", """{ "filter": {}, "endpoint": "shop" }""", cancellationToken);

        Assert.That((int)receipt["replayed"]!, Is.EqualTo(2));
        Assert.That((string?)receipt["refused"]![0]!["messageId"], Is.EqualTo(Story.MessageId(2).ToString()));
        Assert.That(receipt["next"], Is.Null);
    }

    private async Task<JsonObject> PostAsync(string path, string body, CancellationToken cancellationToken)
    {
        using var response = await Client.PostAsync($"/api/messages{path}", Json(body), cancellationToken);
        var text = await response.Content.ReadAsStringAsync(cancellationToken);
        Assert.That(response.IsSuccessStatusCode, Is.True, text);
        return JsonNode.Parse(text)!.AsObject();
    }

    private static Guid FactId(int number) => Guid.Parse($"01951111-0000-7000-8000-{number:x12}");

    private static AuditFact Fact(int message) =>
        new()
        {
            Id = FactId(message),
            Kind = AuditKind.DeadLettered,
            Time = DateTimeOffset.UnixEpoch,
            MessageId = Story.MessageId(message),
            ConversationId = Story.MessageId(message),
        };

    private static StringContent Json(string body) => new(body, Encoding.UTF8, "application/json");
}
