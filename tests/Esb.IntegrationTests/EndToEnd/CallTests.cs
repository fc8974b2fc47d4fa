using System.Collections.Concurrent;
using System.Net;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.Tests;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.Extensions.Logging;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>Calls of an HTTP partner: what it gets to see, and what its answers do.</summary>
public sealed class CallTests
{
    private const string Trace = "0af7651916cd43dd8448eb211c80319c";

    private readonly ConcurrentQueue<(string Target, string Trace)> _requests = new();
    private DirectoryInfo _folder = null!;
    private WebApplication _partner = null!;
    private RunningHost _host = null!;

    [OneTimeSetUp]
    public async Task StartHost()
    {
        _folder = Directory.CreateTempSubdirectory("esb-call-");
        var url = $"http://127.0.0.1:{FreePorts.Next()}";
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.UseUrls(url);
        _partner = builder.Build();
        _partner.Run(AnswerAsync);
        await _partner.StartAsync();
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            $$"""
            {
              "topics": { "orders": {} },
              "audit": { "masks": [{ "jsonpath": "$.password" }] },
              "endpoints": {
                "door": { "type": "http-inbound", "path": "/ask/{what}", "process": "ask", "mode": "request-reply" },
                "later": { "type": "http-inbound", "path": "/later", "publish": "orders.new" },
                "partner": { "type": "http-outbound", "url": "{{url}}/base" },
                "behind": { "type": "http-outbound", "url": "{{url}}/behind", "subscribe": ["orders.#"] }
              },
              "processes": { "ask": [{ "call": { "endpoint": "partner", "path": "/items/{header.x-item}" } }] }
            }
            """
        );
        _host = await RunningHost.StartAsync("esb.json", _folder.FullName, CancellationToken.None);
    }

    [OneTimeTearDown]
    public async Task StopHost()
    {
        await _host.DisposeAsync();
        await _partner.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [
        TestCase("../../admin", "/base/items/..%2F..%2Fadmin"),
        TestCase("%2F", "/base/items/%252F"),
        TestCase("a b?c#d", "/base/items/a%20b%3Fc%23d"),
        TestCase("//evil:80@x", "/base/items/%2F%2Fevil%3A80%40x")
    ]
    [CancelAfter(60_000)]
    public async Task Value_stays_in_its_segment(string item, string expected, CancellationToken cancellationToken)
    {
        _requests.Clear();

        using var response = await AskAsync(item, cancellationToken);

        Assert.That((response.StatusCode, _requests.Single().Target), Is.EqualTo((HttpStatusCode.OK, expected)));
    }

    [TestCase(".."), TestCase("."), TestCase(""), CancelAfter(60_000)]
    public async Task Value_that_is_no_segment_is_refused_before_the_partner_hears_of_it(string item, CancellationToken cancellationToken)
    {
        _requests.Clear();

        using var response = await AskAsync(item, cancellationToken);

        Assert.That((response.StatusCode, _requests.Count), Is.EqualTo((HttpStatusCode.UnprocessableEntity, 0)));
        Assert.That(await response.Content.ReadAsStringAsync(cancellationToken), Does.Contain("ESB-HTTP-PATH").And.Contain("partner"));
    }

    [Test, CancelAfter(60_000)]
    public async Task Answer_that_is_a_failure_is_told_masked_to_caller_audit_and_log(CancellationToken cancellationToken)
    {
        using var response = await AskAsync("fail", cancellationToken);

        var problem = await response.Content.ReadAsStringAsync(cancellationToken);
        var id = response.Headers.GetValues("Esb-Message-Id").Single();
        var (_, facts, _) = await CommandLine.RunAsync(
            _folder.FullName,
            cancellationToken,
            "audit",
            "show",
            id,
            "--url",
            _host.Management.OriginalString
        );
        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.BadGateway));
        foreach (var text in new[] { problem, facts, _host.Output })
            Assert.That(text, Does.Contain("status 422").And.Contain("out of stock").And.Not.Contain("hunter2"));
        Assert.That(problem, Does.Contain("ESB-HTTP-STATUS"));
    }

    [TestCase("/ask/x"), TestCase("/later"), CancelAfter(60_000)]
    public async Task Partner_gets_the_trace_of_the_caller_though_nobody_collects_it(string address, CancellationToken cancellationToken)
    {
        _requests.Clear();
        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(_host.Public, address)) { Content = new StringContent("x") };
        request.Headers.Add("traceparent", $"00-{Trace}-b7ad6b7169203331-01");
        request.Headers.Add("x-item", "1");

        using var response = await _host.Client.SendAsync(request, cancellationToken);

        while (_requests.IsEmpty)
            await Task.Delay(20, cancellationToken);
        Assert.That(_requests.Single().Trace, Does.StartWith($"00-{Trace}-").And.EndWith("-01"));
    }

    [Test, CancelAfter(60_000)]
    public async Task Property_behind_a_topic_is_refused_by_validate(CancellationToken cancellationToken)
    {
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "topic.json"),
            """
            { "topics": { "orders": {} }, "connections": { "shop": { "connection": "Host=localhost" } }, "processes": { "name": [{ "set": { "properties": { "x": "1" } } }] },
              "endpoints": {
                "files": { "type": "file-outbound", "subscribe": ["orders.#"], "folder": "out", "fileName": "{property.x}.txt" },
                "rows": { "type": "sql-outbound", "subscribe": ["orders.#"], "connection": "shop", "execute": "insert into a values ( @id )", "parameters": { "id": { "property": "id" } } },
                "calls": { "type": "http-outbound", "subscribe": ["orders.#"], "url": "http://127.0.0.1/", "path": "/{property.id}" },
                "named": { "type": "file-outbound", "subscribe": ["orders.#"], "process": "name", "folder": "out", "fileName": "{property.x}.txt" },
                "called": { "type": "file-outbound", "folder": "out", "fileName": "{property.x}.txt" } } }
            """,
            cancellationToken
        );

        var (exitCode, _, error) = await CommandLine.RunAsync(_folder.FullName, cancellationToken, "validate", "topic.json");

        Assert.That(exitCode, Is.EqualTo(3));
        Assert.That(
            error,
            Does.StartWith("Configuration refused, 3 errors")
                .And.Contain("endpoints.files.fileName")
                .And.Contain("endpoints.rows.parameters.id")
                .And.Contain("endpoints.calls.path")
                .And.Contain("does not travel over a topic")
        );
    }

    private async Task AnswerAsync(HttpContext context)
    {
        var target = context.Features.GetRequiredFeature<IHttpRequestFeature>().RawTarget;
        _requests.Enqueue((target, context.Request.Headers.TraceParent.ToString()));
        if (!target.EndsWith("/fail", StringComparison.Ordinal))
            return;
        context.Response.StatusCode = StatusCodes.Status422UnprocessableEntity;
        context.Response.ContentType = "application/json";
        await context.Response.WriteAsync("""{ "why": "out of stock", "password": "hunter2" }""", context.RequestAborted);
    }

    private async Task<HttpResponseMessage> AskAsync(string item, CancellationToken cancellationToken)
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(_host.Public, "/ask/x"))
        {
            Content = new StringContent("<order/>"),
        };
        request.Headers.Add("x-item", item);
        return await _host.Client.SendAsync(request, cancellationToken);
    }
}
