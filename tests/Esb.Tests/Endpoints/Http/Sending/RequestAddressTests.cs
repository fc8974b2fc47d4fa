using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Tests.Endpoints.Http.Sending;

/// <summary>Paths, queries, methods and headers of requests.</summary>
public sealed class RequestAddressTests
{
    private HttpBus _bus = null!;
    private Backend _backend = null!;

    [SetUp]
    public async Task CreateBus()
    {
        _bus = new HttpBus();
        _backend = await Backend.StartAsync();
    }

    [TearDown]
    public async Task StopBus()
    {
        await _bus.DisposeAsync();
        await _backend.DisposeAsync();
    }

    [TestCase("", """ "path": "/customers/{property.id}/{header.x-kind}" """, "/backend/customers/a%2Fb%20%C3%A4/new")]
    [TestCase("/", """ "path": "/customers/{property.id}" """, "/backend/customers/a%2Fb%20%C3%A4")]
    [TestCase("?key=1", """ "path": "/{message.id}x" """, "/backend/ID?key=1")]
    [TestCase(
        "?key=1",
        """ "query": { "id": { "property": "id" }, "n": 5, "none": { "property": "none" }, "a b": "" } """,
        "/backend?key=1&id=a%2Fb%20%C3%A4&n=5&a%20b="
    )]
    [TestCase("", """ "query": { "at": { "template": "{property.id}&x=1" } } """, "/backend?at=a%2Fb%20%C3%A4%26x%3D1")]
    [TestCase("", """ "path": "/é/{{x}}" """, null)]
    [TestCase("", """ "path": "/é~a%20b;v=1/" """, "/backend/%C3%A9~a%20b;v=1/")]
    [CancelAfter(30_000)]
    public async Task Path_and_query_are_those_of_the_message_behind_the_url(
        string url,
        string settings,
        string? expected,
        CancellationToken cancellationToken
    )
    {
        _bus.Read($$""" "out": { "type": "http-outbound", "url": "{{_backend.Url}}{{url}}", {{settings}} } """);
        if (expected is null)
        {
            Assert.That(_bus.Errors.All.Single().Code, Is.EqualTo("ESB-CFG-VALUE"), "a brace is no character of a path");
            return;
        }

        await SendAsync(Message, cancellationToken);

        Assert.That(RequestLine, Is.EqualTo($"POST {expected.Replace("ID", $"{Message.Id}x", StringComparison.Ordinal)}"));
    }

    [Test, CancelAfter(10_000)]
    public async Task Call_goes_before_the_settings_of_the_endpoint(CancellationToken cancellationToken)
    {
        _bus.Read(
            $$""" "out": { "type": "http-outbound", "url": "{{_backend.Url}}", "path": "/customers/{property.none}", "query": { "a": "1", "b": "2" } } """
        );
        var request = new CallRequest
        {
            Path = "/orders/7",
            Query = [new("b", "3"), new("c", "4")],
            Method = "DELETE",
            Headers = [new("X-Order", "of-call"), new("Accept", "application/json")],
        };

        await SendAsync(
            Message with
            {
                Request = request,
                Headers = MessageHeaders.From([new("x-order", "of-message"), new("x-other", "1")]),
            },
            cancellationToken
        );

        Assert.That(RequestLine, Is.EqualTo("DELETE /backend/orders/7?a=1&b=3&c=4"));
        Assert.That(
            _backend.Requests.Single(),
            Does.Contain("X-Order: of-call").And.Contain("Accept: application/json").And.Contain("x-other: 1").And.Not.Contain("of-message")
        );
    }

    [TestCase("GET", false), TestCase("HEAD", false), TestCase("DELETE", true), TestCase("PUT", true), CancelAfter(30_000)]
    public async Task Body_is_sent_where_the_method_has_a_use_for_it(string method, bool isSent, CancellationToken cancellationToken)
    {
        _bus.Read($$""" "out": { "type": "http-outbound", "url": "{{_backend.Url}}" } """);

        await SendAsync(Message with { Request = new CallRequest { Method = method } }, cancellationToken);

        Assert.That(RequestLine, Is.EqualTo($"{method} /backend"));
        Assert.That(_backend.Requests.Single().EndsWith("<order/>", StringComparison.Ordinal), Is.EqualTo(isSent));
    }

    [TestCase(null), TestCase(""), TestCase(".."), TestCase("x*9000"), CancelAfter(30_000)]
    public void Message_without_such_a_path_is_refused_and_never_sent(string? id, CancellationToken cancellationToken)
    {
        _bus.Read($$""" "out": { "type": "http-outbound", "url": "{{_backend.Url}}", "path": "/customers/{property.id}" } """);
        var properties = id is null ? [] : new Dictionary<string, object> { ["id"] = id == "x*9000" ? new string('x', 9000) : id };

        var failure = Assert.ThrowsAsync<EndpointException>(() => SendAsync(Message with { Properties = properties }, cancellationToken));

        Assert.That(
            (failure.Code, failure.Kind, failure.IsUnsent, failure.IsTransient),
            Is.EqualTo(("ESB-HTTP-PATH", FaultKind.Invalid, true, false))
        );
        Assert.That(failure.Message, Does.Contain("'out'"));
        Assert.That(_backend.Requests, Is.Empty);
    }

    [Test, CancelAfter(30_000)]
    public void Query_that_is_too_long_is_refused(CancellationToken cancellationToken)
    {
        _bus.Read($$""" "out": { "type": "http-outbound", "url": "{{_backend.Url}}" } """);
        var request = new CallRequest
        {
            Query = [.. Enumerable.Range(0, 10_000).Select(number => KeyValuePair.Create($"p{number}", (string?)"x"))],
        };

        var failure = Assert.ThrowsAsync<EndpointException>(() => SendAsync(Message with { Request = request }, cancellationToken));

        Assert.That(failure.Code, Is.EqualTo("ESB-HTTP-PATH"));
        Assert.That(_backend.Requests, Is.Empty);
    }

    [
        TestCase(""" "path": "/a/../b" """, "path"),
        TestCase(""" "path": "a" """, "path"),
        TestCase(""" "path": "/a?x=1" """, "path"),
        TestCase(""" "query": { "": "a" } """, "query")
    ]
    public void Mistake_is_found_at_the_start(string settings, string property)
    {
        _bus.Read($$""" "out": { "type": "http-outbound", "url": "{{_backend.Url}}", {{settings}} } """);

        Assert.That(
            _bus.Errors.All.Select(error => (error.Code, error.Path)),
            Is.EqualTo(new[] { ("ESB-CFG-VALUE", $"endpoints.out.{property}") })
        );
    }

    [Test]
    public void Relay_to_an_endpoint_with_a_path_is_refused()
    {
        _bus.Read(
            $$""" "in": { "type": "http-inbound", "path": "/in", "relay": "out" }, "out": { "type": "http-outbound", "url": "{{_backend.Url}}", "path": "/a" } """
        );

        Assert.That(
            _bus.Errors.All.Select(error => (error.Code, error.Path)),
            Is.EqualTo(new[] { ("ESB-CFG-RELAY", "endpoints.in.relay") })
        );
    }

    private static EsbMessage Message { get; } =
        Some.Message() with
        {
            Headers = MessageHeaders.From([new("x-kind", "new")]),
            Properties = new Dictionary<string, object> { ["id"] = "a/b ä" },
        };

    private string RequestLine => _backend.Requests.Single().Split('\n')[0];

    private Task SendAsync(EsbMessage message, CancellationToken cancellationToken) =>
        OutboundEndpoints.Create(_bus, "out").CreateInstance().SendAsync(message, cancellationToken).AsTask();
}
