namespace Esb.Tests.Endpoints.Http.Listening;

/// <summary>Paths that are not what they look like, at endpoints that take messages and at relays.</summary>
public sealed class PathTests
{
    private HttpBus _bus = null!;

    [SetUp]
    public void CreateBus() => _bus = new HttpBus();

    [TearDown]
    public async Task StopBus() => await _bus.DisposeAsync();

    [
        TestCase("/%2e%2e/orders", 400),
        TestCase("/nope/../orders", 400),
        TestCase("/./orders", 400),
        TestCase("/nope/%2E%2E/orders", 400),
        TestCase("/.%2e/orders", 400)
    ]
    [
        TestCase("/%2e%2e%2forders", 400),
        TestCase("/%5corders", 400),
        TestCase("/x\\..\\orders", 400),
        TestCase("/orders/.", 400),
        TestCase("/orders/x/..", 400)
    ]
    [TestCase("http://bus/nope/../orders", 400), TestCase("http://bus/%2e%2e/orders", 400), TestCase("http://bus\\orders", 400)]
    [
        TestCase("/x/%252e%252e/orders", 404),
        TestCase("/%252e%252e%252forders", 404),
        TestCase("/orders;a=b", 404),
        TestCase("/nope/..;/orders", 404),
        TestCase("//orders", 404),
        TestCase("/orders%20", 404)
    ]
    [Property("Case", "HTP-17"), CancelAfter(30_000)]
    public async Task Path_in_disguise_is_never_routed(string path, int expected, CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync();
        await _bus.StartAsync(
            $$"""
            "orders": { "type": "http-inbound", "path": "/orders", "publish": "orders.new" },
            "in": { "type": "http-inbound", "path": "/orders", "methods": ["PUT"], "relay": "out" },
            "out": { "type": "http-outbound", "url": "{{backend.Url}}" }
            """
        );

        var message = await AskAsync("POST", path, cancellationToken);
        var relayed = await AskAsync("PUT", path, cancellationToken);

        Assert.That(message, Does.StartWith($"HTTP/1.1 {expected} ").And.Contain("\"code\""));
        Assert.That(relayed, Does.StartWith($"HTTP/1.1 {expected} ").And.Contain("\"code\""));
        Assert.That(_bus.Published, Is.Empty);
        Assert.That(backend.Requests, Is.Empty);
    }

    [
        TestCase("/ORDERS", 404),
        TestCase("/orders/", 404),
        TestCase("/%6frders", 202),
        TestCase("http://bus/orders", 202),
        TestCase("/orders?a=../%2e%2e/%5c\\", 202),
        TestCase("/orders?", 202),
        Property("Case", "HTP-18"),
        CancelAfter(30_000)
    ]
    public async Task Path_is_compared_whole_and_decoded(string path, int expected, CancellationToken cancellationToken)
    {
        await _bus.StartAsync(""" "orders": { "type": "http-inbound", "path": "/orders", "publish": "orders.new" } """);

        var answer = await AskAsync("POST", path, cancellationToken);

        Assert.That(answer, Does.StartWith($"HTTP/1.1 {expected} "));
    }

    [TestCase("/v1.2/orders.xml"), TestCase("/a..b/..c"), CancelAfter(10_000)]
    public async Task Dots_within_a_name_are_nothing_special(string path, CancellationToken cancellationToken)
    {
        await _bus.StartAsync($$""" "orders": { "type": "http-inbound", "path": "{{path}}", "publish": "orders.new" } """);

        var answer = await AskAsync("POST", path, cancellationToken);

        Assert.That(answer, Does.StartWith("HTTP/1.1 202 "));
    }

    private Task<string> AskAsync(string method, string path, CancellationToken cancellationToken) =>
        RawConnection.AskAsync(
            _bus.Port,
            $"{method} {path} HTTP/1.1\r\nHost: bus\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
            cancellationToken
        );
}
