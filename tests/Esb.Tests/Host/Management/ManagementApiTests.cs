using System.Net;
using System.Net.Http.Json;
using System.Text.Json.Nodes;
using Esb.Core;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Pooling;
using Esb.Tests.Fakes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using NSubstitute;

namespace Esb.Tests.Host.Management;

/// <summary>Who may ask the management API, and what it answers to what it does not understand.</summary>
[CancelAfter(30_000)]
public sealed class ManagementApiTests
{
    private static readonly string[] OpenRoutes = ["/health/live", "/health/ready"];

    private RunningManagement _host = null!;
    private IHealthCheck _health = null!;
    private LogLines _log = null!;

    private HttpClient Client => _host.Client;

    [SetUp]
    public async Task Start()
    {
        _health = Substitute.For<IHealthCheck>();
        _health.Name.Returns("topics");
        var monitor = Substitute.For<IEndpointMonitor>();
        monitor.Endpoints.Returns([
            new EndpointStatus
            {
                Name = "ledger",
                Type = "file-outbound",
                State = EndpointState.Running,
                Messages = 3,
                Pool = new PoolStatus(20, 2, 1, 0, 0),
            },
        ]);
        _log = new LogLines();
        _host = await RunningManagement.StartAsync(
            CancellationToken.None,
            services => services.AddSingleton(_health).AddSingleton(monitor).AddSingleton<ILoggerProvider>(_log)
        );
    }

    [TearDown]
    public async Task Stop()
    {
        await _host.DisposeAsync();
        _log.Dispose();
    }

    [Test, Property("Case", "API-01")]
    public async Task Every_route_but_health_wants_the_key(CancellationToken cancellationToken)
    {
        using var stranger = new HttpClient { BaseAddress = _host.Server.Address };
        var routes = _host.Server.Routes.ToList();

        Assert.That(routes, Has.Count.GreaterThanOrEqualTo(8));
        foreach (var route in routes)
        {
            var path =
                "/"
                + route
                    .RoutePattern.RawText!.Trim('/')
                    .Replace("{id}", Guid.NewGuid().ToString())
                    .Replace("{endpoint}", "ledger")
                    .Replace("{line}", "c-1")
                    .Replace("{name}", "order")
                    .Replace("{subject}", "orders.new");
            var method = route.Metadata.GetMetadata<Microsoft.AspNetCore.Routing.IHttpMethodMetadata>()!.HttpMethods[0];
            if ($"{method} {path}" is "GET /" or "GET /console/{**path}" or "POST /api/session")
                continue; // the files of the console, and where a key is shown
            using var response = await stranger.SendAsync(new HttpRequestMessage(new HttpMethod(method), path), cancellationToken);
            Assert.That(
                response.StatusCode,
                OpenRoutes.Contains(path) ? Is.EqualTo(HttpStatusCode.OK) : Is.EqualTo(HttpStatusCode.Unauthorized),
                $"{method} {path}"
            );
        }

        Assert.That(_host.Publisher.Published, Is.Empty);
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
    public async Task Key_is_taken_from_its_own_header_too(CancellationToken cancellationToken)
    {
        using var client = new HttpClient { BaseAddress = _host.Server.Address };
        client.DefaultRequestHeaders.Add("X-Esb-Key", _host.Key);

        Assert.That((await client.GetAsync("/api/topics", cancellationToken)).StatusCode, Is.EqualTo(HttpStatusCode.OK));
    }

    [
        TestCase("/api/no-such-thing"),
        TestCase("/api/files/..%2f..%2fetc%2fpasswd"),
        TestCase("/api/../../etc/passwd"),
        Property("Case", "API-22")
    ]
    public async Task Unknown_route_is_not_found(string path, CancellationToken cancellationToken)
    {
        using var response = await Client.GetAsync(path, cancellationToken);

        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.NotFound));
        Assert.That(await Problem.ReadCodeAsync(response, cancellationToken), Is.EqualTo("ESB-API-NOTFOUND"));
    }

    [TestCase("TRACE"), TestCase("DELETE"), TestCase("BREW"), Property("Case", "API-24")]
    public async Task Method_that_a_route_does_not_take_is_refused(string method, CancellationToken cancellationToken)
    {
        using var response = await Client.SendAsync(new HttpRequestMessage(new HttpMethod(method), "/api/topics"), cancellationToken);

        Assert.That((int)response.StatusCode, Is.EqualTo(405));
    }

    [
        TestCase("limit=1000000"),
        TestCase("limit=-1"),
        TestCase("limit=ten"),
        TestCase("limit=1&limit=2"),
        TestCase("before=yesterday"),
        TestCase("from=soon"),
        TestCase("kind=exploded"),
        TestCase("failed=perhaps"),
        TestCase("failed=true&kind=failed"),
        TestCase("trace=xyz"),
        TestCase("id=7"),
        TestCase("from=2026-02-01&to=2026-01-01"),
        TestCase("where=order"),
        TestCase("where=a=1&where=a=2"),
        Property("Case", "API-08")
    ]
    public async Task Parameter_out_of_range_is_refused(string query, CancellationToken cancellationToken)
    {
        using var response = await Client.GetAsync($"/api/messages?{query}", cancellationToken);

        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.BadRequest));
        Assert.That(await Problem.ReadCodeAsync(response, cancellationToken), Is.EqualTo("ESB-API-PARAMETER"));
    }

    [Test]
    public async Task Unknown_parameter_is_refused_with_the_nearest_name(CancellationToken cancellationToken)
    {
        var problem = await (await Client.GetAsync("/api/messages?limt=5", cancellationToken)).Content.ReadFromJsonAsync<JsonObject>(
            cancellationToken
        );

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

    [TestCase("GET"), TestCase("OPTIONS"), Property("Case", "API-13")]
    public async Task Pages_of_other_sites_may_read_nothing(string method, CancellationToken cancellationToken)
    {
        using var request = new HttpRequestMessage(new HttpMethod(method), "/api/endpoints");
        request.Headers.Add("Origin", "http://evil.example");
        request.Headers.Add("Access-Control-Request-Method", "PATCH");
        using var answer = await Client.SendAsync(request, cancellationToken);

        Assert.That(answer.Headers.Select(header => header.Key), Has.None.StartsWith("Access-Control-"));
    }

    [TestCase("/api/activities?to=0001-01-01T00:00:00Z"), TestCase("/api/activities?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z")]
    public async Task Time_without_anything_before_it_is_refused(string path, CancellationToken cancellationToken)
    {
        using var response = await Client.GetAsync(path, cancellationToken);

        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.BadRequest));
    }

    [Test]
    public async Task Fault_of_the_bus_keeps_its_code_and_a_surprise_tells_nothing(CancellationToken cancellationToken)
    {
        _host.Publisher.Failure = new EsbException(
            "ESB-TOPIC-UNAVAILABLE",
            "The broker is away.",
            FaultKind.Unavailable,
            new IOException("broker-7 refused")
        );
        using var away = await Client.PostAsync("/api/topics/orders.new/messages", new StringContent("x"), cancellationToken);
        _host.Publisher.Failure = new InvalidOperationException("password=hunter2");
        using var surprise = await Client.PostAsync("/api/topics/orders.new/messages", new StringContent("x"), cancellationToken);

        Assert.That((int)away.StatusCode, Is.EqualTo(503));
        Assert.That(await Problem.ReadCodeAsync(away, cancellationToken), Is.EqualTo("ESB-TOPIC-UNAVAILABLE"));
        Assert.That(await away.Content.ReadAsStringAsync(cancellationToken), Does.Not.Contain("broker-7"));
        Assert.That((int)surprise.StatusCode, Is.EqualTo(500));
        Assert.That(await surprise.Content.ReadAsStringAsync(cancellationToken), Does.Not.Contain("hunter2"));
        Assert.That(
            _log.All.Select(line => (line.Level, line.Text)),
            Has.Some.Matches<(LogLevel Level, string Text)>(line =>
                line is (LogLevel.Warning, var text) && text.Contains("cannot be served") && text.Contains("broker-7")
            ),
            "the log has what the answer has not"
        );
        Assert.That(
            _log.All.Select(line => (line.Level, line.Text)),
            Has.Some.Matches<(LogLevel Level, string Text)>(line =>
                line is (LogLevel.Error, var text) && text.Contains("InvalidOperationException")
            )
        );
    }

    [Test]
    public async Task Answers_are_neither_cached_nor_guessed_at(CancellationToken cancellationToken)
    {
        using var response = await Client.GetAsync("/health/live", cancellationToken);

        Assert.That(response.Headers.CacheControl!.NoStore, Is.True);
        Assert.That(response.Headers.GetValues("X-Content-Type-Options"), Is.EqualTo(new[] { "nosniff" }));
        Assert.That(response.Headers.Server, Is.Empty);
    }

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
}
