using System.Net;
using System.Net.Http.Json;
using System.Text.Json.Nodes;
using System.Text.RegularExpressions;
using Esb.Host.Management.Description;
using Microsoft.AspNetCore.Routing;

namespace Esb.Tests.Host.Management;

/// <summary>What the API says about itself, about the flow of messages, and about a configuration that it is sent.</summary>
[CancelAfter(60_000)]
public sealed partial class DescriptionApiTests : ManagementFixture
{
    [Test]
    public async Task Every_route_is_described(CancellationToken cancellationToken)
    {
        var document = await Client.GetFromJsonAsync<JsonObject>("/api/openapi.json", cancellationToken);

        var described = document!["paths"]!
            .AsObject()
            .SelectMany(path => path.Value!.AsObject().Select(operation => $"{operation.Key.ToUpperInvariant()} {path.Key}"))
            .ToList();
        var routes = RoutesOfApi().Select(route => $"{route.Method} {route.Path}").ToList();
        Assert.That(described, Is.EquivalentTo(routes));
        Assert.That(
            RoutesOfApi().Where(route => !ApiCatalog.Knows(route.Method, route.Path)).Select(route => $"{route.Method} {route.Path}"),
            Is.Empty,
            "write a line into ApiCatalog"
        );
    }

    [Test]
    public async Task Every_schema_is_there_and_each_operation_has_its_own_id(CancellationToken cancellationToken)
    {
        var text = await Client.GetStringAsync("/api/openapi.json", cancellationToken);
        var document = JsonNode.Parse(text)!;

        var references = Reference().Matches(text).Select(match => match.Groups[1].Value).Distinct().ToList();
        Assert.That(references, Is.Not.Empty);
        foreach (var reference in references)
        {
            var found = reference.Split('/').Skip(1).Aggregate((JsonNode?)document, (node, part) => node?[part]);
            Assert.That(found, Is.Not.Null, reference);
        }

        var ids = document["paths"]!
            .AsObject()
            .SelectMany(path => path.Value!.AsObject().Select(operation => (string)operation.Value!["operationId"]!))
            .ToList();
        Assert.That(ids.Distinct().Count(), Is.EqualTo(ids.Count));
        Assert.That((string?)document["openapi"], Is.EqualTo("3.1.0"));
        Assert.That((string?)document["paths"]!["/api/endpoints/{name}"]!["patch"]!["x-esb-role"], Is.EqualTo("operator"));
    }

    [Test]
    public async Task Topics_are_described_with_those_who_publish_and_read(CancellationToken cancellationToken)
    {
        var document = await Client.GetFromJsonAsync<JsonObject>("/api/asyncapi.json", cancellationToken);

        Assert.That((string?)document!["asyncapi"], Is.EqualTo("3.0.0"));
        Assert.That((string?)document["channels"]!["orders"]!["address"], Is.EqualTo("orders"));
        Assert.That((string?)document["operations"]!["receive-orders-endpoint-ledger"]!["action"], Is.EqualTo("receive"));
    }

    [Test]
    public async Task Flow_shows_what_the_configuration_connects(CancellationToken cancellationToken)
    {
        var flow = await Client.GetFromJsonAsync<JsonObject>("/api/flow", cancellationToken);
        using var drawing = await Client.GetAsync("/api/flow?format=svg", cancellationToken);

        var nodes = flow!["nodes"]!.AsArray().Select(node => (string)node!["id"]!);
        Assert.That(nodes, Is.EquivalentTo(new[] { "endpoint:ledger", "topic:orders", "process:receive-order" }));
        Assert.That((string?)flow["edges"]![0]!["label"], Is.EqualTo("orders.#"));
        Assert.That(drawing.Content.Headers.ContentType!.MediaType, Is.EqualTo("image/svg+xml"));
        Assert.That(await drawing.Content.ReadAsStringAsync(cancellationToken), Does.StartWith("<svg ").And.Contain("ledger"));
    }

    [Test]
    public async Task Hosts_of_the_farm_are_described(CancellationToken cancellationToken)
    {
        var hosts = await Client.GetFromJsonAsync<JsonObject>("/api/hosts", cancellationToken);

        var host = hosts!["items"]!.AsArray().Single()!;
        Assert.That(((bool?)host["isThis"], (bool?)host["answers"]), Is.EqualTo((true, true)));
        Assert.That((string?)host["revision"], Has.Length.EqualTo(12));
    }

    [Test]
    public async Task Prometheus_finds_the_metrics_where_it_looks_and_needs_a_key(CancellationToken cancellationToken)
    {
        using var stranger = new HttpClient { BaseAddress = Host.Server.Address };

        using var answer = await Client.GetAsync("/metrics", cancellationToken);
        using var refused = await stranger.GetAsync("/metrics", cancellationToken);

        Assert.That(answer.Content.Headers.ContentType!.MediaType, Is.EqualTo("text/plain"));
        Assert.That((answer.StatusCode, refused.StatusCode), Is.EqualTo((HttpStatusCode.OK, HttpStatusCode.Unauthorized)));
    }

    [Test]
    public async Task Sent_configuration_is_checked_with_each_error_at_its_place(CancellationToken cancellationToken)
    {
        var files = new
        {
            files = new Dictionary<string, string>
            {
                ["esb.json"] = """
                    {
                      "name": "shop",
                      "endpoints": { "ledger": { "type": "file-outbound", "folder": "x", "poolSize": 0 } }
                    }
                    """,
            },
        };

        using var answer = await Client.PostAsJsonAsync("/api/configuration/validate", files, cancellationToken);
        var checkedOne = await answer.Content.ReadFromJsonAsync<JsonObject>(cancellationToken);

        var error = checkedOne!["errors"]!.AsArray().Single()!;
        Assert.That((bool?)checkedOne["isValid"], Is.False);
        Assert.That(((string?)error["code"], (string?)error["file"], (int?)error["line"]), Is.EqualTo(("ESB-CFG-RANGE", "esb.json", 3)));
    }

    [Test]
    public async Task Schema_of_a_configuration_is_given(CancellationToken cancellationToken)
    {
        using var answer = await Client.GetAsync("/api/schema", cancellationToken);

        Assert.That((await answer.Content.ReadFromJsonAsync<JsonObject>(cancellationToken))!["properties"]!["endpoints"], Is.Not.Null);
    }

    [Test]
    public async Task Errors_have_a_code_and_a_trace(CancellationToken cancellationToken)
    {
        foreach (var path in new[] { "/api/endpoints/none", "/api/nowhere", "/api/messages?limit=0", "/api/messages/no-uuid" })
        {
            using var answer = await Client.GetAsync(path, cancellationToken);
            var problem = await answer.Content.ReadFromJsonAsync<JsonObject>(cancellationToken);

            Assert.That(answer.Content.Headers.ContentType?.MediaType, Is.EqualTo("application/problem+json"), path);
            Assert.That((string?)problem!["code"], Does.StartWith("ESB-API-"), path);
            Assert.That((string?)problem["traceId"], Has.Length.EqualTo(32), path);
        }
    }

    [Test]
    public async Task Log_is_shown_with_its_newest_lines(CancellationToken cancellationToken)
    {
        var log = await Client.GetFromJsonAsync<JsonObject>("/api/log/events?level=warning&limit=5", cancellationToken);

        Assert.That(log!["items"], Is.Not.Null);
    }

    private List<(string Method, string Path)> RoutesOfApi() =>
        [
            .. Host
                .Server.Routes.Where(route => route.Metadata.GetMetadata<IHttpMethodMetadata>() is not null)
                .Select(route => (route.Metadata.GetMetadata<IHttpMethodMetadata>()!.HttpMethods.Single(), OpenApiDocument.PathOf(route)))
                .Where(route =>
                    route.Item2.StartsWith("/api/", StringComparison.Ordinal)
                    || route.Item2.StartsWith("/health/", StringComparison.Ordinal)
                    || route.Item2 == "/metrics"
                ),
        ];

    [GeneratedRegex("\"\\$ref\": ?\"#([^\"]+)\"")]
    private static partial Regex Reference();
}
