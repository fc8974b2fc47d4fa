namespace Esb.Tests.Endpoints.Http.Listening;

/// <summary>The header Connection: what it names goes no further, and what it says of the connection holds.</summary>
[CancelAfter(30_000)]
public sealed class ConnectionHeaderTests
{
    private HttpBus _bus = null!;
    private Backend _backend = null!;

    [SetUp]
    public async Task Start()
    {
        _backend = await Backend.StartAsync();
        _bus = await new HttpBus().StartAsync(
            $$"""
            "orders": { "type": "http-inbound", "path": "/in", "publish": "orders.new" },
            "in": { "type": "http-inbound", "path": "/in", "methods": ["PUT"], "relay": "out" },
            "out": { "type": "http-outbound", "url": "{{_backend.Url}}" }
            """
        );
    }

    [TearDown]
    public async Task Stop()
    {
        await _bus.DisposeAsync();
        await _backend.DisposeAsync();
    }

    [
        TestCase("Connection: X-Hop\r\n"),
        TestCase("Connection: close, X-Hop\r\n"),
        TestCase("Connection: x-hop , Close\r\n"),
        TestCase("Connection: keep-alive, X-Hop\r\n"),
        TestCase("Connection: X-Hop, Upgrade\r\nUpgrade: h2c\r\n")
    ]
    [
        TestCase("Connection: close\r\nConnection: X-Hop\r\n"),
        TestCase("Connection: X-Hop\r\nConnection: keep-alive\r\n"),
        TestCase("connection: Keep-Alive\r\nCONNECTION: ,X-Hop,\r\n"),
        TestCase("Connection: upgrade\r\nConnection: X-Hop, close\r\n")
    ]
    [Property("Case", "HDR-09")]
    public async Task Header_that_it_names_goes_no_further(string connection, CancellationToken cancellationToken)
    {
        var message = await AskAsync("POST", connection, cancellationToken);
        var relayed = await AskAsync("PUT", connection, cancellationToken);

        Assert.That(message, Does.StartWith("HTTP/1.1 202 "));
        Assert.That(relayed, Does.StartWith("HTTP/1.1 200 "));
        Assert.That(_bus.Published.Single().Headers.Select(header => header.Key), Is.EqualTo(new[] { "X-End" }));
        Assert.That(_backend.Requests.Single(), Does.Contain("X-End: 2").And.Not.Contain("X-Hop").IgnoreCase.And.Not.Contain("Upgrade"));
    }

    [
        TestCase("HTTP/1.1", "", true),
        TestCase("HTTP/1.1", "Connection: keep-alive\r\n", true),
        TestCase("HTTP/1.1", "Connection: keep-alive, X-Hop\r\n", true),
        TestCase("HTTP/1.1", "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n", true)
    ]
    [
        TestCase("HTTP/1.1", "Connection: close\r\n", false),
        TestCase("HTTP/1.1", "Connection: keep-alive, close\r\n", false),
        TestCase("HTTP/1.1", "Connection: CLOSE, X-Hop\r\n", false)
    ]
    [TestCase("HTTP/1.0", "", false), TestCase("HTTP/1.0", "Connection: keep-alive\r\n", false)]
    public async Task Connection_stays_open_as_it_says(string version, string header, bool staysOpen, CancellationToken cancellationToken)
    {
        using var connection = await RawConnection.OpenAsync(_bus.Port, cancellationToken);
        var request = $"POST /in {version}\r\nHost: bus\r\n{header}Content-Length: 1\r\n\r\nx";

        await connection.WriteAsync(request, cancellationToken);
        var first = await connection.ReadUntilAsync("}", cancellationToken);
        Assert.That(first, Does.StartWith("HTTP/1.1 202 "));
        if (staysOpen)
            await connection.WriteAsync(request, cancellationToken);
        var second = staysOpen
            ? await connection.ReadUntilAsync("}", cancellationToken)
            : await connection.ReadToEndAsync(cancellationToken);

        Assert.That(second, staysOpen ? Does.StartWith("HTTP/1.1 202 ") : Is.Empty);
    }

    [Test]
    public async Task Name_that_is_no_text_is_refused(CancellationToken cancellationToken)
    {
        var answer = await AskAsync("POST", "Connection: close, \u00ff\r\n", cancellationToken);

        Assert.That(answer, Does.StartWith("HTTP/1.1 400 ").And.Contain("ESB-HTTP-REQUEST"));
    }

    private async Task<string> AskAsync(string method, string connection, CancellationToken cancellationToken)
    {
        using var opened = await RawConnection.OpenAsync(_bus.Port, cancellationToken);
        await opened.WriteAsync(
            $"{method} /in HTTP/1.1\r\nHost: bus\r\n{connection}X-Hop: 1\r\nX-End: 2\r\nContent-Length: 2\r\n\r\n{{}}",
            cancellationToken
        );
        return await opened.ReadUntilAsync("}", cancellationToken);
    }
}
