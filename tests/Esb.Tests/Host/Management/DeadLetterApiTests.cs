using System.Net;
using System.Net.Http.Json;
using System.Text;
using System.Text.Json.Nodes;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Replays;
using Esb.Core.Storage;
using Microsoft.Extensions.DependencyInjection;
using NSubstitute;

namespace Esb.Tests.Host.Management;

[CancelAfter(30_000)]
public sealed class DeadLetterApiTests
{
    private static readonly DateTimeOffset Now = new(2026, 3, 1, 12, 0, 0, TimeSpan.Zero);

    private RunningManagement _host = null!;
    private IDeadLetterStore _letters = null!;
    private IDeadLetterDesk _desk = null!;
    private IReplayJobStore _jobs = null!;

    private HttpClient Client => _host.Client;

    [SetUp]
    public async Task Start()
    {
        _host = await RunningManagement.StartAsync(CancellationToken.None);
        _letters = _host.Services.GetRequiredService<IDeadLetterStore>();
        _jobs = _host.Services.GetRequiredService<IReplayJobStore>();
        _desk = _host.Services.GetRequiredService<IDeadLetterDesk>();
        _desk.ReplayAsync(null!, null, null!, default).ReturnsForAnyArgs(call => Job(call.Arg<ReplayRequest>()));
    }

    [TearDown]
    public async Task Stop() => await _host.DisposeAsync();

    [Test]
    public async Task Letters_are_listed_page_by_page(CancellationToken cancellationToken)
    {
        var letter = Summary();
        _letters.FindAsync(null!, default).ReturnsForAnyArgs(new[] { letter }.ToAsyncEnumerable());

        var page = await GetAsync(
            "/api/dead-letters?endpoint=shop&code=ESB-X&subject=orders.%23&text=no&state=open&from=2026-01-01&before=77&limit=1",
            cancellationToken
        );

        var asked = (DeadLetterQuery)_letters.ReceivedCalls().Single().GetArguments()[0]!;
        Assert.That(
            (
                asked.Filter.Endpoint,
                asked.Filter.Code,
                asked.Filter.Subject,
                asked.Filter.Text,
                asked.Filter.State,
                asked.Before,
                asked.Limit
            ),
            Is.EqualTo(("shop", "ESB-X", "orders.#", "no", DeadLetterState.Open, 77, 1))
        );
        Assert.That((string?)page["next"], Is.EqualTo("42"));
        Assert.That((string?)page["items"]![0]!["id"], Is.EqualTo(letter.Id.ToString()));
        Assert.That((string?)page["items"]![0]!["state"], Is.EqualTo("open"));
    }

    [Test]
    public async Task Letter_is_shown_whole_and_its_body_is_downloaded_as_a_file(CancellationToken cancellationToken)
    {
        var letter = Letter("<script>alert(1)</script>");
        _letters.GetAsync(letter.Id, Arg.Any<CancellationToken>()).Returns(new KeptDeadLetter(Summary() with { Id = letter.Id }, letter));

        var shown = await GetAsync($"/api/dead-letters/{letter.Id}", cancellationToken);
        using var body = await Client.GetAsync($"/api/dead-letters/{letter.Id}/body", cancellationToken);

        Assert.That((string?)shown["headers"]!["x-order"], Is.EqualTo("A-1001"));
        Assert.That((string?)shown["failures"]![0]!["code"], Is.EqualTo("ESB-HTTP-STATUS"));
        Assert.That(await body.Content.ReadAsStringAsync(cancellationToken), Is.EqualTo("<script>alert(1)</script>"));
        Assert.That(
            (body.Content.Headers.ContentType!.MediaType, body.Content.Headers.ContentDisposition!.DispositionType),
            Is.EqualTo(("application/octet-stream", "attachment"))
        );
    }

    [Test]
    public async Task Replay_is_made_as_asked_by_whom_and_under_which_command(CancellationToken cancellationToken)
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, "/api/replays")
        {
            Content = Json(
                """{ "filter": { "endpoint": "shop", "state": "replayed" }, "redirect": "ledger", "rate": 50, "batchSize": 500, "firstBatch": 5, "batchPause": "2s", "stopAtFailureShare": 0.05, "outOfOrder": true, "reason": "mended" }"""
            ),
        };
        request.Headers.Add("X-Esb-Operator", "ada");
        request.Headers.Add("Idempotency-Key", "monday");

        using var response = await Client.SendAsync(request, cancellationToken);

        var (asked, command, decision) = Asked();
        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
        Assert.That(response.Headers.Location!.ToString(), Does.StartWith("/api/replays/"));
        Assert.That(
            (asked.Letters.Endpoint, asked.Letters.State, asked.Redirect, asked.Rate, asked.BatchSize, asked.FirstBatch),
            Is.EqualTo(("shop", DeadLetterState.Replayed, "ledger", 50.0, 500, 5))
        );
        Assert.That((asked.BatchPause, asked.StopAtFailureShare, asked.OutOfOrder), Is.EqualTo((TimeSpan.FromSeconds(2), 0.05, true)));
        Assert.That((command, decision), Is.EqualTo(("monday", new OperatorDecision("ada", "mended"))));
    }

    [Test]
    public async Task Single_letter_is_replayed_with_an_edited_body_larger_than_the_limit_of_bodies_as_json(
        CancellationToken cancellationToken
    )
    {
        var letter = Letter("x");
        _letters.GetAsync(letter.Id, Arg.Any<CancellationToken>()).Returns(new KeptDeadLetter(Summary() with { Id = letter.Id }, letter));
        var mended = new string('é', 500); // of 1 KiB; escaped it takes more

        using var response = await Client.PostAsync(
            $"/api/dead-letters/{letter.Id}/replay",
            Json(
                $$"""{ "edit": { "body": "{{mended.Replace("é", "\\u00e9")}}", "contentType": "text/plain", "headers": { "x-a": "b" } } }"""
            ),
            cancellationToken
        );

        var (asked, command, decision) = Asked();
        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
        Assert.That(asked.Letters.Ids, Is.EqualTo([letter.Id]));
        Assert.That(Encoding.UTF8.GetString(asked.Edit!.Body!.Value.Span), Is.EqualTo(mended));
        Assert.That((asked.Edit.ContentType, asked.Edit.Headers!["x-a"]), Is.EqualTo(("text/plain", "b")));
        Assert.That((command, decision.By), Is.EqualTo(((string?)null, "management key")));
    }

    [Test]
    public async Task Edit_of_a_body_is_kept_and_taken_back_by_whom_and_against_what_was_read(CancellationToken cancellationToken)
    {
        var letter = Letter("x");
        var digest = LetterEdit.DigestOf(letter.Message.Body.Bytes);
        var edit = new LetterEdit(Guid.NewGuid(), "mended"u8.ToArray(), null, Now, "ada", "a digit");
        var kept = new KeptDeadLetter(Summary() with { Id = letter.Id }, letter);
        _desk.EditAsync(letter.Id, null, null!, null!, default).ReturnsForAnyArgs(kept with { Edit = edit });
        _letters.GetAsync(letter.Id, Arg.Any<CancellationToken>()).Returns(kept with { Edit = edit });
        var path = $"/api/dead-letters/{letter.Id}/body";

        using var put = await Client.PutAsync(
            path,
            Json($$"""{ "body": "mended", "expected": "{{digest.ToUpperInvariant()}}", "reason": "a digit" }"""),
            cancellationToken
        );
        using var taking = new HttpRequestMessage(HttpMethod.Delete, path) { Content = Json($$"""{ "expected": "{{digest}}" }""") };
        using var taken = await Client.SendAsync(taking, cancellationToken);
        var shown = JsonNode.Parse(await put.Content.ReadAsStringAsync(cancellationToken))!;

        Assert.That((put.StatusCode, taken.StatusCode), Is.EqualTo((HttpStatusCode.OK, HttpStatusCode.OK)));
        Assert.That(
            ((string?)shown["bodyDigest"], (string?)shown["edit"]!["digest"], (string?)shown["edit"]!["by"]),
            Is.EqualTo((digest, LetterEdit.DigestOf(edit.Body), "ada"))
        );
        var calls = _desk.ReceivedCalls().Select(call => call.GetArguments()).ToList();
        Assert.That(Encoding.UTF8.GetString(((EditedBody)calls[0][1]!).Bytes.Span), Is.EqualTo("mended"));
        Assert.That(calls.Select(call => call[2]), Is.All.EqualTo(digest));
        Assert.That(((OperatorDecision)calls[0][3]!).Reason, Is.EqualTo("a digit"));
        Assert.That(calls[1][1], Is.Null);
        Assert.That(await Client.GetStringAsync(path, cancellationToken), Is.EqualTo("x"));
        Assert.That(await Client.GetStringAsync($"{path}?edited=true", cancellationToken), Is.EqualTo("mended"));
    }

    [TestCase("""{ "body": "x" }""", "ESB-API-PARAMETER")]
    [TestCase("""{ "body": "x", "expected": "0" }""", "ESB-API-PARAMETER")]
    [TestCase("""{ "body": "x", "bodyBase64": "eA==", "expected": "DIGEST" }""", "ESB-API-PARAMETER")]
    [TestCase("""{ "expected": "DIGEST" }""", "ESB-API-PARAMETER")]
    [TestCase("""{ "body": "x", "contentType": "a\nb", "expected": "DIGEST" }""", "ESB-API-PARAMETER")]
    [TestCase("""{ "body": "x", "expected": "DIGEST", "by": "somebody else" }""", "ESB-API-BODY", Description = "API-07")]
    public async Task Edit_that_makes_no_sense_is_refused(string body, string code, CancellationToken cancellationToken)
    {
        using var answer = await Client.PutAsync(
            $"/api/dead-letters/{Guid.NewGuid()}/body",
            Json(body.Replace("DIGEST", new string('0', 64), StringComparison.Ordinal)),
            cancellationToken
        );

        Assert.That((answer.StatusCode, await CodeOf(answer, cancellationToken)), Is.EqualTo((HttpStatusCode.BadRequest, code)));
        Assert.That(_desk.ReceivedCalls(), Is.Empty);
    }

    [TestCase("", "ESB-API-PARAMETER", TestName = "Replay_of_everything_has_to_be_asked_for")]
    [TestCase("""{ "ids": [] }""", "ESB-API-PARAMETER")]
    [TestCase("""{ "ids": ["no-id"] }""", "ESB-API-BODY")]
    [TestCase("""{ "filter": {}, "rate": 0 }""", "ESB-API-PARAMETER")]
    [TestCase("""{ "filter": {}, "stopAtFailureShare": 5 }""", "ESB-API-PARAMETER")]
    [TestCase("""{ "filter": {}, "batchPause": "5" }""", "ESB-API-PARAMETER")]
    [TestCase("""{ "filter": { "state": "replaying" } }""", "ESB-API-PARAMETER")]
    [TestCase("""{ "filter": {}, "edit": { "body": "x" } }""", "ESB-API-PARAMETER")]
    [TestCase(
        """{ "ids": ["0190a5d2-0000-7000-8000-000000000000"], "edit": { "body": "x", "bodyBase64": "eA==" } }""",
        "ESB-API-PARAMETER"
    )]
    [TestCase("""{ "ids": ["0190a5d2-0000-7000-8000-000000000000"], "edit": { "headers": { "esb-key": "x" } } }""", "ESB-API-PARAMETER")]
    [TestCase("""{ "filter": { "endpont": "shop" } }""", "ESB-API-BODY")]
    [TestCase("""{ "filter": {}, "filter": {} }""", "ESB-API-BODY")]
    [TestCase("""[1]""", "ESB-API-BODY")]
    [TestCase("""{ "filter": """, "ESB-API-BODY")]
    public async Task Request_that_makes_no_sense_is_refused(string body, string code, CancellationToken cancellationToken)
    {
        foreach (var path in new[] { "/api/replays", "/api/replays/preview" })
        {
            using var response = await Client.PostAsync(path, Json(body), cancellationToken);
            Assert.That(
                (response.StatusCode, await CodeOf(response, cancellationToken)),
                Is.EqualTo((HttpStatusCode.BadRequest, code)),
                path
            );
        }

        Assert.That(_desk.ReceivedCalls(), Is.Empty);
    }

    [Test]
    public async Task Body_that_is_no_json_is_refused(CancellationToken cancellationToken)
    {
        using var response = await Client.PostAsync(
            "/api/replays",
            new StringContent("{}", Encoding.UTF8, "text/plain"),
            cancellationToken
        );

        Assert.That(
            (response.StatusCode, await CodeOf(response, cancellationToken)),
            Is.EqualTo((HttpStatusCode.UnsupportedMediaType, "ESB-API-BODY"))
        );
    }

    [Test]
    public async Task What_the_desk_refuses_is_a_problem(CancellationToken cancellationToken)
    {
        _desk
            .ReplayAsync(null!, null, null!, default)
            .ReturnsForAnyArgs<ReplayJob>(_ =>
                throw new EsbException("ESB-REPLAY-ORDER", "It delivers in order.", FaultKind.Invalid) { Status = 409 }
            );

        using var response = await Client.PostAsync("/api/replays", Json("""{ "filter": {} }"""), cancellationToken);

        Assert.That(
            (response.StatusCode, await CodeOf(response, cancellationToken)),
            Is.EqualTo((HttpStatusCode.Conflict, "ESB-REPLAY-ORDER"))
        );
    }

    [Test]
    public async Task Discarding_needs_a_reason(CancellationToken cancellationToken)
    {
        _desk.DiscardAsync(null!, null!, default).ReturnsForAnyArgs(7);

        using var without = await Client.PostAsync("/api/dead-letters/discard", Json("""{ "filter": {} }"""), cancellationToken);
        using var with = await Client.PostAsync(
            "/api/dead-letters/discard",
            Json("""{ "filter": { "endpoint": "shop" }, "reason": "paid by hand" }"""),
            cancellationToken
        );

        Assert.That(
            (without.StatusCode, await CodeOf(without, cancellationToken)),
            Is.EqualTo((HttpStatusCode.BadRequest, "ESB-API-PARAMETER"))
        );
        Assert.That((int?)(await with.Content.ReadFromJsonAsync<JsonObject>(cancellationToken))!["discarded"], Is.EqualTo(7));
        await _desk.ReceivedWithAnyArgs(1).DiscardAsync(null!, null!, default);
    }

    [TestCase("pause", ReplayState.Paused), TestCase("resume", ReplayState.Running), TestCase("cancel", ReplayState.Cancelled)]
    public async Task Jobs_are_changed_by_a_word(string verb, ReplayState state, CancellationToken cancellationToken)
    {
        var job = Job(new ReplayRequest { Letters = new() });
        _desk.ChangeAsync(job.Id, state, Arg.Any<OperatorDecision>(), Arg.Any<CancellationToken>()).Returns(job with { State = state });

        using var response = await Client.PostAsync($"/api/replays/{job.Id}/{verb}", null, cancellationToken);
        using var unknown = await Client.PostAsync($"/api/replays/{Guid.NewGuid()}/{verb}", null, cancellationToken);

        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.OK));
        Assert.That(unknown.StatusCode, Is.EqualTo(HttpStatusCode.NotFound));
    }

    [Test]
    public async Task Jobs_are_listed_and_shown(CancellationToken cancellationToken)
    {
        var job = Job(
            new ReplayRequest
            {
                Letters = new() { Endpoint = "shop" },
                BatchSize = 100,
                Edit = new ReplayEdit { Body = "x"u8.ToArray() },
            }
        );
        _jobs.ListAsync(null, 1, Arg.Any<CancellationToken>()).Returns([job]);
        _jobs.GetAsync(job.Id, Arg.Any<CancellationToken>()).Returns(job);

        var page = await GetAsync("/api/replays?limit=1", cancellationToken);
        var shown = await GetAsync($"/api/replays/{job.Id}", cancellationToken);

        Assert.That((string?)page["next"], Is.EqualTo(job.Id.ToString()));
        Assert.That(
            ((string?)shown["filter"]!["endpoint"], (string?)shown["batchPause"], (string?)shown["editedAs"]),
            Is.EqualTo(("shop", "5s", job.EditedId.ToString()))
        );
        Assert.That(shown.ToJsonString(), Does.Not.Contain("\"body\""));
    }

    private static ReplayJob Job(ReplayRequest request) =>
        new()
        {
            Id = Guid.CreateVersion7(),
            Command = "c",
            Fingerprint = "f",
            Request = request,
            CreatedAt = Now,
            CreatedBy = "ada",
            Total = 3,
        };

    private static DeadLetter Letter(string body) =>
        new(
            Some.Message(body) with
            {
                Headers = MessageHeaders.From([new("x-order", "A-1001")]),
            },
            "shop",
            "ESB-HTTP-STATUS",
            "404",
            null,
            1,
            Now,
            Now
        )
        {
            Failures = [new(Now, "ESB-HTTP-STATUS", "404")],
        };

    private static DeadLetterSummary Summary() =>
        new()
        {
            Id = Guid.NewGuid(),
            Number = 42,
            MessageId = Guid.NewGuid(),
            ConversationId = Guid.NewGuid(),
            Endpoint = "shop",
            Subject = "orders.new",
            Code = "ESB-HTTP-STATUS",
            Reason = "404",
            FirstAttempt = Now,
            LastAttempt = Now,
        };

    private static StringContent Json(string text) => new(text, Encoding.UTF8, "application/json");

    private static async Task<string?> CodeOf(HttpResponseMessage response, CancellationToken cancellationToken)
    {
        Assert.That(response.Content.Headers.ContentType?.MediaType, Is.EqualTo("application/problem+json"));
        return (string?)(await response.Content.ReadFromJsonAsync<JsonObject>(cancellationToken))!["code"];
    }

    private (ReplayRequest Request, string? Command, OperatorDecision Decision) Asked()
    {
        var arguments = _desk
            .ReceivedCalls()
            .Single(call => call.GetMethodInfo().Name == nameof(IDeadLetterDesk.ReplayAsync))
            .GetArguments();
        return ((ReplayRequest)arguments[0]!, (string?)arguments[1], (OperatorDecision)arguments[2]!);
    }

    private async Task<JsonObject> GetAsync(string path, CancellationToken cancellationToken) =>
        (await Client.GetFromJsonAsync<JsonObject>(path, cancellationToken))!;
}
