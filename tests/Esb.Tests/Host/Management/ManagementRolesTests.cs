using System.Net;
using System.Net.Http.Json;
using System.Text.Json.Nodes;
using Esb.Core.Configuration;
using Esb.Host.Management;
using Esb.Tests.Fakes;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Tests.Host.Management;

/// <summary>Keys of people and programs, and what each may do.</summary>
[CancelAfter(60_000)]
public sealed class ManagementRolesTests
{
    private const string ViewerKey = "the key of the monitoring, 32 long";
    private const string OperatorKey = "the key of those on duty, 32 long too";
    private const string NextOperatorKey = "the next key of those on duty, 32 long";
    private const string AdministratorKey = "the key of those who configure it, too";

    private const string Keys = $$$"""
        , "keys": {
          "monitoring": { "role": "viewer", "key": "${env:VIEWER}" },
          "duty": { "role": "operator", "key": ["${env:OPERATOR}", "${env:NEXT}"] },
          "left": { "role": "administrator", "key": "${env:LEFT}", "expires": "2020-01-01" },
          "boss": { "role": "administrator", "key": "${env:ADMINISTRATOR}" }
        }
        """;

    private static readonly Dictionary<string, string> Variables = new()
    {
        ["VIEWER"] = ViewerKey,
        ["OPERATOR"] = OperatorKey,
        ["NEXT"] = NextOperatorKey,
        ["ADMINISTRATOR"] = AdministratorKey,
        ["LEFT"] = "the key of somebody who has left long ago",
    };

    private static readonly string[] ForOperators =
    [
        "GET /api/evidence",
        "GET /api/messages/{id}",
        "GET /api/parked/{endpoint}/{line}",
        "PATCH /api/endpoints/{name}",
        "PATCH /api/log",
        "POST /api/topics/{subject}/messages",
        "POST /api/unroutable/replays",
        "POST /api/dead-letters/discard",
        "POST /api/dead-letters/{id}/replay",
        "PUT /api/dead-letters/{id}/body",
        "DELETE /api/dead-letters/{id}/body",
        "POST /api/replays",
        "POST /api/replays/preview",
        "POST /api/replays/{id}/pause",
        "POST /api/replays/{id}/resume",
        "POST /api/replays/{id}/cancel",
        "POST /api/parked/{endpoint}/{line}/release",
        "POST /api/parked/{endpoint}/{line}/discard",
        "POST /api/messages/{id}/replay",
        "POST /api/messages/replays",
        "POST /api/messages/replays/preview",
        "POST /api/activities/rebuild",
        "DELETE /api/metrics/peaks",
        "GET /api/traces",
        "GET /api/traces/{id}",
        "GET /api/traces/{id}/messages/{pass}",
        "POST /api/traces",
        "DELETE /api/traces/{id}",
        "DELETE /api/endpoints/{name}/tuning",
        "DELETE /api/endpoints/{name}/tuning/{setting}",
        "GET /api/workflows/{id}",
        "POST /api/workflows/{id}/retry",
        "POST /api/workflows/{id}/skip",
        "POST /api/workflows/{id}/terminate",
        "POST /api/workflows/{id}/fire",
        "PATCH /api/workflows/{id}/variables",
        "POST /api/workflows/batches",
        "POST /api/workflows/batches/preview",
        "POST /api/workflows/batches/{id}/stop",
        "POST /api/workflows/migrations",
    ];

    private static readonly string[] ForAdministrators =
    [
        "GET /api/dead-letters/{id}/body",
        "GET /api/keys",
        "POST /api/messages/{id}/erase",
        "POST /api/configuration/reload",
        "POST /api/configuration/migrate",
        "POST /api/configuration/plan",
        "POST /api/store/encryption",
    ];

    private RunningManagement _host = null!;

    private static readonly string[] OperatorsOfConsole = ["GET /api/log/events"];

    private static readonly string[] AdministratorsOfConsole =
    [
        "GET /api/configuration/files",
        "POST /api/configuration/validate",
        "GET /api/configuration/versions/{number}",
        "GET /api/configuration/versions/diff",
        "POST /api/configuration/apply",
        "POST /api/configuration/rollback",
    ];

    [SetUp]
    public async Task Start() => _host = await RunningManagement.StartAsync(CancellationToken.None, management: Keys, variables: Variables);

    [TearDown]
    public async Task Stop() => await _host.DisposeAsync();

    [Test, Property("Case", "API-05"), Property("Case", "API-21")]
    public async Task Every_route_takes_the_least_role_that_it_is_meant_for(CancellationToken cancellationToken)
    {
        var routes = _host
            .Server.Routes.Select(route => (Route: route, Method: route.Metadata.GetMetadata<IHttpMethodMetadata>()!.HttpMethods.Single()))
            .Select(found => (found.Method, Pattern: "/" + found.Route.RoutePattern.RawText!.Trim('/')))
            .Where(found => found.Pattern.StartsWith("/api", StringComparison.Ordinal))
            .ToList();

        Assert.That(routes.Select(found => $"{found.Method} {found.Pattern}").Intersect(ForOperators), Is.EquivalentTo(ForOperators));
        foreach (var (method, pattern) in routes)
        {
            var name = $"{method} {pattern}";
            if (pattern == "/api/session")
                continue; // for everyone who has a key, and to get a session
            var least =
                ForAdministrators.Concat(AdministratorsOfConsole).Contains(name) ? ManagementRole.Administrator
                : ForOperators.Concat(OperatorsOfConsole).Contains(name) ? ManagementRole.Operator
                : ManagementRole.Viewer;
            Assert.That(least == ManagementRole.Viewer && method != "GET", Is.False, $"{name} changes something, and is for nobody");
            foreach (var (role, key) in new[] { (ManagementRole.Viewer, ViewerKey), (ManagementRole.Operator, OperatorKey) })
            {
                if (role >= least)
                    continue; // only what is refused can be tried on every route
                using var answer = await AskAsync(method, pattern, key, cancellationToken);
                Assert.That(answer.StatusCode, Is.EqualTo(HttpStatusCode.Forbidden), $"{name} for {role}");
                Assert.That(
                    (await answer.Content.ReadFromJsonAsync<JsonNode>(cancellationToken))!["code"]!.GetValue<string>(),
                    Is.EqualTo("ESB-API-ROLE")
                );
            }
        }
    }

    [TestCase(ViewerKey, "GET", "/api/endpoints", HttpStatusCode.OK)]
    [TestCase(OperatorKey, "GET", "/api/endpoints", HttpStatusCode.OK)]
    [TestCase(NextOperatorKey, "GET", "/api/endpoints", HttpStatusCode.OK)]
    [TestCase(OperatorKey, "POST", "/api/dead-letters/discard", HttpStatusCode.BadRequest)]
    [TestCase(AdministratorKey, "POST", "/api/configuration/plan", HttpStatusCode.BadRequest)]
    [TestCase("the key of somebody who has left long ago", "GET", "/api/endpoints", HttpStatusCode.Unauthorized, Description = "API-02")]
    [TestCase("no key", "GET", "/api/endpoints", HttpStatusCode.Unauthorized)]
    public async Task Key_opens_what_its_role_may(
        string key,
        string method,
        string path,
        HttpStatusCode expected,
        CancellationToken cancellationToken
    )
    {
        using var answer = await AskAsync(method, path, key, cancellationToken);

        Assert.That(answer.StatusCode, Is.EqualTo(expected));
        Assert.That(File.Exists(_host.Server.KeyFile), Is.False, "configured keys need no other");
    }

    [Test]
    public async Task Administrator_sees_who_has_keys_and_never_a_key(CancellationToken cancellationToken)
    {
        using var answer = await AskAsync("GET", "/api/keys", AdministratorKey, cancellationToken);

        var text = await answer.Content.ReadAsStringAsync(cancellationToken);
        var items = JsonNode.Parse(text)!["items"]!.AsArray();
        Assert.That(
            items.Select(item => $"{item!["name"]} {item["role"]} {item["keys"]} {item["isExpired"]} {item["expires"]}".TrimEnd()),
            Is.EqualTo([
                "boss administrator 1 false",
                "duty operator 2 false",
                "left administrator 1 true 2020-01-01T00:00:00+00:00",
                "monitoring viewer 1 false",
            ])
        );
        Assert.That(Variables.Values.Where(text.Contains), Is.Empty);
    }

    [Test]
    public async Task Guessing_is_slowed_by_address_and_even_the_right_key_waits(CancellationToken cancellationToken)
    {
        var codes = new List<HttpStatusCode>();
        for (var guess = 0; guess < 40; guess++)
            codes.Add((await AskAsync("GET", "/api/endpoints", $"guess {guess}", cancellationToken)).StatusCode);
        using var right = await AskAsync("GET", "/api/endpoints", ViewerKey, cancellationToken);

        Assert.That(codes[..20], Is.All.EqualTo(HttpStatusCode.Unauthorized));
        Assert.That(codes, Does.Contain(HttpStatusCode.TooManyRequests));
        Assert.That(right.StatusCode == HttpStatusCode.OK || right.Headers.RetryAfter is not null, Is.True);
    }

    [Test]
    public async Task Ready_tells_only_those_with_a_key_what_is_in_the_way(CancellationToken cancellationToken)
    {
        using var stranger = new HttpClient { BaseAddress = _host.Server.Address };

        var told = await stranger.GetFromJsonAsync<JsonObject>("/health/ready", cancellationToken);
        using var known = await AskAsync("GET", "/health/ready", ViewerKey, cancellationToken);

        Assert.That(told!.Select(member => member.Key), Is.EqualTo(new[] { "ready" }));
        Assert.That(
            (await known.Content.ReadFromJsonAsync<JsonObject>(cancellationToken))!.Select(member => member.Key),
            Does.Contain("notices")
        );
    }

    [Test]
    public void Other_keys_hold_as_soon_as_the_configuration_has_them()
    {
        var current = ConfigOf("one", OperatorKey);
        var keys = new ManagementKeys(() => current, "unused", new ManualTime(), NullLogger.Instance);

        var before = (keys.Find(OperatorKey)?.Name, keys.Find(NextOperatorKey)?.Name);
        current = ConfigOf("other", NextOperatorKey);

        Assert.That(before, Is.EqualTo(("one", (string?)null)));
        Assert.That((keys.Find(OperatorKey)?.Name, keys.Find(NextOperatorKey)?.Name), Is.EqualTo(((string?)null, "other")));
    }

    [TestCase("""{ "a": { "role": "operator", "key": "${env:OPERATOR}" } }""", "ESB-CFG-REQUIRED", Description = "no administrator")]
    [TestCase("""{ "a": { "role": "administrator", "key": "${env:SHORT}" } }""", "ESB-CFG-RANGE")]
    [TestCase("""{ "a": { "role": "administrator", "key": "${env:OPERATOR}", "expires": "soon" } }""", "ESB-CFG-RANGE")]
    [TestCase(
        """{ "a": { "role": "administrator", "key": "${env:OPERATOR}" }, "b": { "role": "viewer", "key": "${env:OPERATOR}" } }""",
        "ESB-CFG-DUPNAME"
    )]
    [TestCase("""{ "a": { "role": "administrator", "key": "in the clear, and long enough for it" } }""", "ESB-CFG-CLEARSECRET")]
    public void Keys_that_open_nothing_or_too_much_are_refused(string keys, string code)
    {
        var variables = new Dictionary<string, string>(Variables) { ["SHORT"] = "short" };

        var refused = Assert.ThrowsAsync<ConfigurationRefusedException>(() =>
            RunningManagement.StartAsync(CancellationToken.None, management: $", \"keys\": {keys}", variables: variables)
        );

        Assert.That(refused!.Errors.Select(error => error.Code), Does.Contain(code));
    }

    private static ManagementConfig ConfigOf(string name, string key) =>
        new()
        {
            Keys = new Dictionary<string, ManagementKeyConfig>
            {
                [name] = new() { Role = ManagementRole.Operator, Key = [key] },
            },
        };

    private async Task<HttpResponseMessage> AskAsync(string method, string pattern, string key, CancellationToken cancellationToken)
    {
        using var client = new HttpClient { BaseAddress = _host.Server.Address };
        client.DefaultRequestHeaders.Add("X-Esb-Key", key);
        var path = pattern
            .Replace("{id}", Guid.NewGuid().ToString())
            .Replace("{endpoint}", "ledger")
            .Replace("{line}", "c-1")
            .Replace("{name}", "order")
            .Replace("{subject}", "orders.new");
        return await client.SendAsync(new HttpRequestMessage(new HttpMethod(method), path), cancellationToken);
    }
}
