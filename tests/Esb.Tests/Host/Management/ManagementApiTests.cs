using System.Net;
using System.Net.Http.Json;
using System.Text;
using System.Text.Json.Nodes;
using Esb.Core;
using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Pooling;
using Esb.Core.Topics;
using Esb.Host.Lifecycle;
using Microsoft.Extensions.DependencyInjection;
using NSubstitute;
using NUnit.Framework;

namespace Esb.Tests.Host.Management;

[CancelAfter(20_000)]
public sealed class ManagementApiTests
{
    private static readonly string[] OpenRoutes = ["/health/live", "/health/ready"];

    private RunningManagement _host = null!;
    private IHealthCheck _health = null!;

    private HttpClient Client => _host.Client;

    [SetUp]
    public async Task Start()
    {
        _health = Substitute.For<IHealthCheck>();
        _health.Name.Returns("topics");
        var monitor = Substitute.For<IEndpointMonitor>();
        monitor.Endpoints.Returns([new EndpointStatus { Name = "ledger", Type = "file-outbound", State = EndpointState.Running, Messages = 3, Pool = new PoolStatus(20, 2, 1, 0, 0) }]);
        _host = await RunningManagement.StartAsync(CancellationToken.None, services => services.AddSingleton(_health).AddSingleton(monitor));
    }

    [TearDown]
    public async Task Stop() => await _host.DisposeAsync();

    [Test, Property("Case", "API-01")]
    public async Task Every_route_but_health_wants_the_key(CancellationToken cancellationToken)
    {
        using var stranger = new HttpClient { BaseAddress = _host.Server.Address };
        var routes = _host.Server.Routes.ToList();

        Assert.That(routes, Has.Count.GreaterThanOrEqualTo(8));
        foreach (var route in routes)
        {
            var path = "/" + route.RoutePattern.RawText!.Trim('/').Replace("{id}", Guid.NewGuid().ToString()).Replace("{endpoint}", "ledger").Replace("{line}", "c-1").Replace("{name}", "order").Replace("{subject}", "orders.new");
            var method = route.Metadata.GetMetadata<Microsoft.AspNetCore.Routing.IHttpMethodMetadata>()!.HttpMethods[0];
            using var response = await stranger.SendAsync(new HttpRequestMessage(new HttpMethod(method), path), cancellationToken);
            Assert.That(response.StatusCode, OpenRoutes.Contains(path) ? Is.EqualTo(HttpStatusCode.OK) : Is.EqualTo(HttpStatusCode.Unauthorized), $"{method} {path}");
        }

        Assert.That(_host.Publisher.Published, Is.Empty);
    }

    [TestCase("/api/activities?to=0001-01-01T00:00:00Z"), TestCase("/api/activities?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z")]
    public async Task Time_without_anything_before_it_is_refused(string path, CancellationToken cancellationToken)
    {
        using var response = await Client.GetAsync(path, cancellationToken);

        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.BadRequest));
    }

    [Test, Property("Case", "API-01")]
    public async Task Unknown_routes_below_api_tell_strangers_nothing(CancellationToken cancellationToken)
    {
        using var stranger = new HttpClient { BaseAddress = _host.Server.Address };
        stranger.DefaultRequestHeaders.Add("X-Esb-Key", "wrong");

        Assert.That((await stranger.GetAsync("/api/no-such-thing", cancellationToken)).StatusCode, Is.EqualTo(HttpStatusCode.Unauthorized));
        Assert.That((await stranger.GetAsync("/no-such-thing", cancellationToken)).StatusCode, Is.EqualTo(HttpStatusCode.NotFound));
    }

    [Test]
    public async Task Unroutable_messages_are_shown_by_subject_and_replayed(CancellationToken cancellationToken)
    {
        var unroutable = _host.Services.GetRequiredService<IUnroutableMessages>();
        unroutable.SummarizeAsync(7, Arg.Any<CancellationToken>()).Returns(new UnroutableSummary(1_200, 7, [new UnroutableSubject("orders.lost", 7, DateTimeOffset.UnixEpoch)]));
        unroutable.ReplayAsync("orders.lost", 50, Arg.Any<CancellationToken>()).Returns(new UnroutableReplay(48, ["orders.never"]));

        var summary = (await Client.GetFromJsonAsync<JsonObject>("/api/unroutable?peek=7", cancellationToken))!;
        using var response = await Client.PostAsync("/api/unroutable/replays", new StringContent("""{ "subject": "orders.lost", "limit": 50 }""", Encoding.UTF8, "application/json"), cancellationToken);
        var replay = JsonNode.Parse(await response.Content.ReadAsStringAsync(cancellationToken))!;

        Assert.That(((int)summary["count"]!, (int)summary["peeked"]!, (string?)summary["subjects"]![0]!["subject"]), Is.EqualTo((1_200, 7, "orders.lost")));
        Assert.That((response.StatusCode, (int)replay["replayed"]!, (string?)replay["unroutable"]![0]), Is.EqualTo((HttpStatusCode.OK, 48, "orders.never")));
    }

    [TestCase("""{ "subjekt": "orders.lost" }"""), TestCase("[]"), TestCase("{"), TestCase("""{ "limit": 0 }"""), TestCase("""{ "limit": 10001 }"""), TestCase("""{ "subject": "orders..x" }""")]
    public async Task Replay_of_unroutable_messages_that_is_not_understood_is_refused(string body, CancellationToken cancellationToken)
    {
        using var response = await Client.PostAsync("/api/unroutable/replays", new StringContent(body, Encoding.UTF8, "application/json"), cancellationToken);

        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.BadRequest));
        Assert.That(_host.Services.GetRequiredService<IUnroutableMessages>().ReceivedCalls(), Is.Empty);
    }

    [Test]
    public async Task Key_is_taken_from_its_own_header_too(CancellationToken cancellationToken)
    {
        using var client = new HttpClient { BaseAddress = _host.Server.Address };
        client.DefaultRequestHeaders.Add("X-Esb-Key", _host.Key);

        Assert.That((await client.GetAsync("/api/topics", cancellationToken)).StatusCode, Is.EqualTo(HttpStatusCode.OK));
    }

    [TestCase("/api/no-such-thing"), TestCase("/api/files/..%2f..%2fetc%2fpasswd"), TestCase("/api/../../etc/passwd"), Property("Case", "API-22")]
    public async Task Unknown_route_is_not_found(string path, CancellationToken cancellationToken)
    {
        using var response = await Client.GetAsync(path, cancellationToken);

        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.NotFound));
        Assert.That(await CodeOf(response, cancellationToken), Is.EqualTo("ESB-API-NOTFOUND"));
    }

    [TestCase("TRACE"), TestCase("DELETE"), TestCase("BREW"), Property("Case", "API-24")]
    public async Task Method_that_a_route_does_not_take_is_refused(string method, CancellationToken cancellationToken)
    {
        using var response = await Client.SendAsync(new HttpRequestMessage(new HttpMethod(method), "/api/topics"), cancellationToken);

        Assert.That((int)response.StatusCode, Is.EqualTo(405));
    }

    [TestCase("limit=1000000"), TestCase("limit=-1"), TestCase("limit=ten"), TestCase("limit=1&limit=2"), TestCase("before=yesterday"), TestCase("from=soon"),
     TestCase("kind=exploded"), TestCase("failed=perhaps"), TestCase("failed=true&kind=failed"), TestCase("trace=xyz"), TestCase("id=7"), TestCase("from=2026-02-01&to=2026-01-01"), TestCase("where=order"), TestCase("where=a=1&where=a=2"), Property("Case", "API-08")]
    public async Task Parameter_out_of_range_is_refused(string query, CancellationToken cancellationToken)
    {
        using var response = await Client.GetAsync($"/api/messages?{query}", cancellationToken);

        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.BadRequest));
        Assert.That(await CodeOf(response, cancellationToken), Is.EqualTo("ESB-API-PARAMETER"));
    }

    [Test]
    public async Task Unknown_parameter_is_refused_with_the_nearest_name(CancellationToken cancellationToken)
    {
        var problem = await (await Client.GetAsync("/api/messages?limt=5", cancellationToken)).Content.ReadFromJsonAsync<JsonObject>(cancellationToken);

        Assert.That((string?)problem!["code"], Is.EqualTo("ESB-API-UNKNOWN"));
        Assert.That((string?)problem["detail"], Does.Contain("did you mean \"limit\"?"));
        Assert.That((string?)problem["traceId"], Has.Length.EqualTo(32));
    }

    [TestCase("no-uuid"), TestCase("1'%20or%20'1'='1"), Property("Case", "API-10")]
    public async Task Id_that_is_no_uuid_is_refused(string id, CancellationToken cancellationToken)
    {
        using var response = await Client.GetAsync($"/api/messages/{id}", cancellationToken);

        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.BadRequest));
    }

    [Test]
    public async Task Messages_are_found_by_their_fields_page_by_page(CancellationToken cancellationToken)
    {
        _host.Store.Facts.AddRange([Fact("A-1001"), Fact("A-1002")]);

        var page = await Client.GetFromJsonAsync<JsonObject>("/api/messages?where=order=A-1001&where=total=5=5&endpoint=shop&kind=dead-lettered&limit=1&from=2026-01-31T08:00:00Z", cancellationToken);

        Assert.That(_host.Store.Asked!.Where, Is.EqualTo(new Dictionary<string, string> { ["order"] = "A-1001", ["total"] = "5=5" }));
        Assert.That(_host.Store.Asked.Kind, Is.EqualTo(AuditKind.DeadLettered));
        Assert.That(_host.Store.Asked.From, Is.EqualTo(new DateTimeOffset(2026, 1, 31, 8, 0, 0, TimeSpan.Zero)));
        Assert.That(page!["items"]!.AsArray(), Has.Count.EqualTo(1));
        Assert.That((string?)page["next"], Is.EqualTo(_host.Store.Facts[0].Id.ToString()));
    }

    [Test]
    public async Task List_leaves_bodies_out_and_the_journey_shows_them(CancellationToken cancellationToken)
    {
        var fact = Fact("A-1001") with { Body = Encoding.UTF8.GetBytes("<order/>") };
        _host.Store.Facts.Add(fact);

        var list = await Client.GetStringAsync("/api/messages", cancellationToken);
        var journey = await Client.GetFromJsonAsync<JsonObject>($"/api/messages/{fact.MessageId}", cancellationToken);

        Assert.That(list, Does.Not.Contain("<order/>").And.Contains("\"bodyBytes\":8"));
        Assert.That((string?)journey!["items"]![0]!["body"], Is.EqualTo("<order/>"));
        Assert.That((string?)journey["items"]![0]!["kind"], Is.EqualTo("recorded"));
    }

    [Test]
    public async Task Journey_of_an_unknown_message_is_not_found(CancellationToken cancellationToken) =>
        Assert.That((await Client.GetAsync($"/api/messages/{Guid.NewGuid()}", cancellationToken)).StatusCode, Is.EqualTo(HttpStatusCode.NotFound));

    [Test]
    public async Task Endpoints_topics_and_configuration_are_shown(CancellationToken cancellationToken)
    {
        var endpoints = await Client.GetFromJsonAsync<JsonObject>("/api/endpoints", cancellationToken);
        var topics = await Client.GetFromJsonAsync<JsonObject>("/api/topics", cancellationToken);
        var configuration = await Client.GetFromJsonAsync<JsonObject>("/api/configuration", cancellationToken);

        Assert.That((string?)endpoints!["items"]![0]!["state"], Is.EqualTo("running"));
        Assert.That((int?)endpoints["items"]![0]!["pool"]!["maximum"], Is.EqualTo(20));
        Assert.That((string?)topics!["items"]![0]!["subscriptions"]![0]!["pattern"], Is.EqualTo("orders.#"));
        Assert.That((string?)configuration!["revision"], Has.Length.EqualTo(12));
    }

    [Test]
    public async Task Sent_message_is_published_without_the_key(CancellationToken cancellationToken)
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, "/api/topics/orders.new/messages?count=3") { Content = new StringContent("<order/>", Encoding.UTF8, "application/xml") };
        request.Headers.Add("x-esb-key", _host.Key);
        request.Headers.Add("x-shop", "7");

        using var response = await Client.SendAsync(request, cancellationToken);
        var receipt = await response.Content.ReadFromJsonAsync<JsonObject>(cancellationToken);

        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
        Assert.That((bool?)receipt!["durable"], Is.False);
        Assert.That(_host.Publisher.Published.Select(published => published.Subject), Is.EqualTo(new[] { "orders.new", "orders.new", "orders.new" }));
        Assert.That(_host.Publisher.Published.Select(published => published.Message.Id), Is.Unique);
        var headers = _host.Publisher.Published[0].Message.Headers;
        Assert.That(headers["x-shop"], Is.EqualTo("7"));
        Assert.That(headers["x-esb-key"], Is.Null);
    }

    [TestCase("nowhere.new", 404, "ESB-API-NOTFOUND"), TestCase("orders..new", 400, "ESB-API-PARAMETER"), TestCase("orders.new/messages?count=1001&x=", 400, "ESB-API-UNKNOWN")]
    public async Task Message_for_no_topic_is_refused(string subject, int status, string code, CancellationToken cancellationToken)
    {
        var path = subject.Contains('?') ? subject : $"{subject}/messages";
        using var response = await Client.PostAsync($"/api/topics/{path}", new StringContent("x"), cancellationToken);

        Assert.That((int)response.StatusCode, Is.EqualTo(status));
        Assert.That(await CodeOf(response, cancellationToken), Is.EqualTo(code));
    }

    [Test, Property("Case", "API-11")]
    public async Task Body_above_the_limit_is_refused(CancellationToken cancellationToken)
    {
        using var response = await Client.PostAsync("/api/topics/orders.new/messages", new StringContent(new string('x', 1025)), cancellationToken);

        Assert.That((int)response.StatusCode, Is.EqualTo(413));
        Assert.That(_host.Publisher.Published, Is.Empty);
    }

    [Test]
    public async Task Fault_of_the_bus_keeps_its_code_and_a_surprise_tells_nothing(CancellationToken cancellationToken)
    {
        _host.Publisher.Failure = new EsbException("ESB-TOPIC-UNAVAILABLE", "The broker is away.", FaultKind.Unavailable);
        using var away = await Client.PostAsync("/api/topics/orders.new/messages", new StringContent("x"), cancellationToken);
        _host.Publisher.Failure = new InvalidOperationException("password=hunter2");
        using var surprise = await Client.PostAsync("/api/topics/orders.new/messages", new StringContent("x"), cancellationToken);

        Assert.That((int)away.StatusCode, Is.EqualTo(503));
        Assert.That(await CodeOf(away, cancellationToken), Is.EqualTo("ESB-TOPIC-UNAVAILABLE"));
        Assert.That((int)surprise.StatusCode, Is.EqualTo(500));
        Assert.That(await surprise.Content.ReadAsStringAsync(cancellationToken), Does.Not.Contain("hunter2"));
    }

    [Test]
    public async Task Answers_are_neither_cached_nor_guessed_at(CancellationToken cancellationToken)
    {
        using var response = await Client.GetAsync("/health/live", cancellationToken);

        Assert.That(response.Headers.CacheControl!.NoStore, Is.True);
        Assert.That(response.Headers.GetValues("X-Content-Type-Options"), Is.EqualTo(new[] { "nosniff" }));
        Assert.That(response.Headers.Server, Is.Empty);
    }

    [Test, Property("Case", "API-25")]
    public async Task Host_is_not_ready_while_a_check_fails_and_keeps_its_exception_to_itself(CancellationToken cancellationToken)
    {
        _health.CheckAsync(Arg.Any<CancellationToken>()).Returns(new ValueTask<string?>("the broker is away"), ValueTask.FromException<string?>(new InvalidOperationException("password=hunter2")));

        using var away = await Client.GetAsync("/health/ready", cancellationToken);
        using var failed = await Client.GetAsync("/health/ready", cancellationToken);

        Assert.That((int)away.StatusCode, Is.EqualTo(503));
        Assert.That(await away.Content.ReadAsStringAsync(cancellationToken), Does.Contain("the broker is away"));
        Assert.That(await failed.Content.ReadAsStringAsync(cancellationToken), Does.Contain("topics").And.Not.Contain("hunter2"));
        Assert.That((await Client.GetAsync("/health/live", cancellationToken)).StatusCode, Is.EqualTo(HttpStatusCode.OK));
    }

    [Test]
    public async Task Host_that_stops_is_not_ready_any_more(CancellationToken cancellationToken)
    {
        _host.Services.GetRequiredService<HostState>().Stopping();

        using var response = await Client.GetAsync("/health/ready", cancellationToken);

        Assert.That((int)response.StatusCode, Is.EqualTo(503));
        Assert.That(await response.Content.ReadAsStringAsync(cancellationToken), Does.Contain("stopping"));
    }

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

    private static async Task<string?> CodeOf(HttpResponseMessage response, CancellationToken cancellationToken)
    {
        Assert.That(response.Content.Headers.ContentType?.MediaType, Is.EqualTo("application/problem+json"));
        return (string?)(await response.Content.ReadFromJsonAsync<JsonObject>(cancellationToken))!["code"];
    }
}
