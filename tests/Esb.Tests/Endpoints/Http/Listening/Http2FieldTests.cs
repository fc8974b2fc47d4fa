using System.Globalization;
using System.Text;

namespace Esb.Tests.Endpoints.Http.Listening;

/// <summary>Fields of HTTP/2 can hold what no line of HTTP/1.1 can: none of that becomes a part of a message, nor of a request to the
/// outside.</summary>
[CancelAfter(30_000)]
public sealed class Http2FieldTests
{
    private static readonly string[] Methods = ["POST", "PUT"]; // as a message, and through a relay

    private readonly StringBuilder _seen = new();
    private HttpBus _bus = null!;
    private RawBackend _backend = null!;

    private string Seen
    {
        get
        {
            lock (_seen)
                return _seen.ToString();
        }
    }

    [SetUp]
    public async Task Start()
    {
        _seen.Clear();
        _backend = new RawBackend(
            async (connection, _, stopping) =>
            {
                var request = "";
                while (await connection.ReadAsync(stopping) is { Length: > 0 } piece)
                {
                    lock (_seen)
                        _seen.Append(piece);
                    request += piece;
                    if (!IsWhole(request))
                        continue;
                    await connection.WriteAsync("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", stopping);
                    request = "";
                }
            }
        );
        _bus = new HttpBus();
        await _bus.StartAsync(
            $$"""
            "in": { "type": "http-inbound", "path": "/in", "publish": "orders.new", "headers": ["*"] },
            "relay": { "type": "http-inbound", "path": "/in", "methods": ["PUT"], "relay": "out" },
            "out": { "type": "http-outbound", "url": "{{_backend.Url}}", "poolSize": 100 }
            """,
            $$""", "listeners": { "public": { "url": "{{_bus.Address.OriginalString}}", "versions": "http2" } }"""
        );
    }

    [TearDown]
    public async Task Stop()
    {
        await _bus.DisposeAsync();
        await _backend.DisposeAsync();
    }

    [Test]
    public async Task Fields_of_any_sound_request_come_in(CancellationToken cancellationToken)
    {
        foreach (var (method, status) in new[] { ("POST", "202"), ("PUT", "200") })
            Assert.That(
                await AskAsync(
                    method,
                    [RawHttp2.Literal("x-a", "one\ttwo ä"), RawHttp2.Literal("te", "trailers"), RawHttp2.Literal("content-length", "4")],
                    "body",
                    cancellationToken
                ),
                Is.EqualTo(status)
            );

        Assert.That(_bus.Published.Single().Headers["x-a"], Is.EqualTo("one\ttwo ä"));
        Assert.That(Seen, Does.StartWith("PUT /backend HTTP/1.1\r\n").And.Contain("\r\nx-a: one\ttwo ").And.EndWith("\r\n\r\nbody"));
    }

    [
        TestCase("x-a", "one\r\nx-evil: two"),
        TestCase("x-a", "one\nx-evil: two"),
        TestCase("x-a", "one\rtwo"),
        TestCase("x-a", "one\0two"),
        TestCase("x-a", "one\u0001two"),
        TestCase("x-a", "one\u007ftwo")
    ]
    [
        TestCase("content-type", "text/plain\r\nx-evil: two"),
        TestCase("x-correlation-id", "c\r\nx-evil: two"),
        TestCase("via", "1.0 fred\r\nx-evil: two"),
        TestCase("tracestate", "a=b\r\nx-evil: two"),
        TestCase("x-forwarded-host", "a\r\nx-evil: two")
    ]
    [Property("Case", "HTP-09")]
    public Task Value_that_breaks_out_of_its_line_reaches_nobody(string name, string value, CancellationToken cancellationToken) =>
        AssertRefusedAsync([RawHttp2.Literal(name, value)], "body", cancellationToken);

    [
        TestCase("x a"),
        TestCase("x-a:"),
        TestCase("x-a: 1\r\nx-evil"),
        TestCase("x-a\nx-evil"),
        TestCase("x-\0"),
        TestCase("größe"),
        TestCase("X-A"),
        TestCase("")
    ]
    [Property("Case", "HDR-05")]
    public Task Name_that_is_none_reaches_nobody(string name, CancellationToken cancellationToken) =>
        AssertRefusedAsync([RawHttp2.Literal(name, "one")], "body", cancellationToken);

    [
        TestCase("connection", "close"),
        TestCase("connection", "x-a"),
        TestCase("transfer-encoding", "chunked"),
        TestCase("transfer-encoding", "gzip"),
        TestCase("keep-alive", "timeout=5"),
        TestCase("proxy-connection", "keep-alive"),
        TestCase("upgrade", "h2c"),
        TestCase("upgrade", "websocket"),
        TestCase("te", "gzip")
    ]
    [Property("Case", "HDR-09")]
    public Task Field_of_a_connection_reaches_nobody(string name, string value, CancellationToken cancellationToken) =>
        AssertRefusedAsync([RawHttp2.Literal(name, value)], "body", cancellationToken);

    [
        TestCase("5"),
        TestCase("-4"),
        TestCase("4, 4"),
        TestCase("four"),
        TestCase("4 4"),
        TestCase(""),
        TestCase("99999999999999999999"),
        TestCase("4\r\nx-evil: two")
    ]
    [Property("Case", "HTP-06")]
    public async Task Length_that_is_not_that_of_the_body_makes_no_message_and_no_whole_request(
        string length,
        CancellationToken cancellationToken
    )
    {
        foreach (var method in Methods)
            Assert.That(
                await AskAsync(method, [RawHttp2.Literal("content-length", length)], "body", cancellationToken),
                Is.EqualTo(RawHttp2.Closed).Or.EqualTo(RawHttp2.Reset).Or.EqualTo("400"),
                method
            );

        Assert.That(_bus.Published, Is.Empty);
        Assert.That(Seen, Does.Not.Contain("evil").And.Not.Contain("Content-Length: 4\r\n").IgnoreCase.And.Not.Contain("\r\n0\r\n\r\n"));
    }

    [Test, Property("Case", "HTP-06")]
    public Task Two_lengths_reach_nobody(CancellationToken cancellationToken) =>
        AssertRefusedAsync([RawHttp2.Literal("content-length", "4"), RawHttp2.Literal("content-length", "5")], "body", cancellationToken);

    [Test, Property("Case", "HTP-06")]
    public async Task What_comes_behind_the_length_reaches_nobody(CancellationToken cancellationToken)
    {
        foreach (var method in Methods)
            Assert.That(
                await AskAsync(method, [RawHttp2.Literal("content-length", "4")], "bodyGET /evil HTTP/1.1\r\n\r\n", cancellationToken),
                Is.EqualTo(RawHttp2.Closed).Or.EqualTo(RawHttp2.Reset).Or.EqualTo("400"),
                method
            );

        Assert.That(_bus.Published, Is.Empty);
        Assert.That(Seen, Does.Not.Contain("evil"));
    }

    [
        TestCase(":path", "/in HTTP/1.1\r\nx-evil: two"),
        TestCase(":path", "/in?a b"),
        TestCase(":path", "/in?\r\nx-evil: two"),
        TestCase(":path", "/in?a\0"),
        TestCase(":authority", "bus\r\nx-evil: two"),
        TestCase(":authority", "bus/evil"),
        TestCase(":method", "PUT / HTTP/1.1\r\nx-evil: two\r\n"),
        TestCase(":scheme", "http\r\nx-evil: two")
    ]
    [Property("Case", "HDR-06")]
    public async Task First_line_that_would_be_more_than_one_reaches_nobody(string name, string value, CancellationToken cancellationToken)
    {
        using var connection = await RawHttp2.OpenAsync(_bus.Port, cancellationToken);
        await connection.SendHeadersAsync(
            1,
            Head("PUT").Select(field => RawHttp2.Literal(field.Name, field.Name == name ? value : field.Value)),
            isEnd: false,
            cancellationToken
        );
        await connection.SendDataAsync(1, "body", isEnd: true, cancellationToken);

        Assert.That(
            await connection.OutcomeAsync(1, cancellationToken),
            Is.EqualTo(RawHttp2.Closed).Or.EqualTo(RawHttp2.Reset).Or.EqualTo("400")
        );
        Assert.That(Seen, Is.Empty);
    }

    [
        TestCase("x-sum", "1\r\nx-evil: two"),
        TestCase("x-sum", "1\0"),
        TestCase("x-sum: 1\r\nx-evil", "two"),
        TestCase("x sum", "1"),
        TestCase("transfer-encoding", "chunked"),
        Property("Case", "HTP-09")
    ]
    public async Task Trailer_that_breaks_out_of_its_line_reaches_nobody(string name, string value, CancellationToken cancellationToken)
    {
        using var connection = await RawHttp2.OpenAsync(_bus.Port, cancellationToken);
        await connection.SendHeadersAsync(1, Fields("PUT"), isEnd: false, cancellationToken);
        await connection.SendDataAsync(1, "body", isEnd: false, cancellationToken);
        await connection.SendHeadersAsync(1, [RawHttp2.Literal(name, value)], isEnd: true, cancellationToken);
        await connection.OutcomeAsync(1, cancellationToken);

        Assert.That(
            Seen,
            Does.Not.Contain("evil")
                .And.Not.Contain("x sum")
                .And.Not.Contain("x-sum: 1\0")
                .And.Not.Contain("transfer-encoding: chunked\r\n\r\n")
        );
    }

    // The table of the connection gives back what trailers have put there, which the server does not look at twice.
    [Test, Property("Case", "HTP-09")]
    public async Task Value_that_trailers_have_brought_along_breaks_out_of_no_line_of_the_next_request(
        [Values("x-a", "via", "tracestate", "content-type")] string name,
        CancellationToken cancellationToken
    )
    {
        foreach (var method in Methods)
        {
            using var connection = await RawHttp2.OpenAsync(_bus.Port, cancellationToken);
            await connection.SendHeadersAsync(1, Fields("POST"), isEnd: false, cancellationToken);
            await connection.SendDataAsync(1, "first", isEnd: false, cancellationToken);
            await connection.SendHeadersAsync(1, [RawHttp2.Remembered(name, "one\r\nx-evil: two")], isEnd: true, cancellationToken);
            await connection.OutcomeAsync(1, cancellationToken);
            await connection.SendHeadersAsync(
                3,
                [
                    .. Fields(method),
                    RawHttp2.Latest(),
                    RawHttp2.Literal("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
                ],
                isEnd: false,
                cancellationToken
            );
            await connection.SendDataAsync(3, "second", isEnd: true, cancellationToken);

            Assert.That(
                await connection.OutcomeAsync(3, cancellationToken),
                Is.EqualTo(RawHttp2.Closed).Or.EqualTo(RawHttp2.Reset).Or.EqualTo("400"),
                method
            );
        }

        Assert.That(_bus.Published.Select(message => message.Body.ReadText()), Has.None.EqualTo("second"));
        Assert.That(Seen, Is.Empty);
    }

    private async Task AssertRefusedAsync(byte[][] fields, string body, CancellationToken cancellationToken)
    {
        using (Assert.EnterMultipleScope())
        {
            foreach (var method in Methods)
                Assert.That(
                    await AskAsync(method, fields, body, cancellationToken),
                    Is.EqualTo(RawHttp2.Closed).Or.EqualTo(RawHttp2.Reset).Or.EqualTo("400").Or.EqualTo("501"),
                    method
                );
            Assert.That(_bus.Published, Is.Empty);
            Assert.That(Seen, Is.Empty);
        }
    }

    private async Task<string> AskAsync(string method, byte[][] fields, string body, CancellationToken cancellationToken)
    {
        using var connection = await RawHttp2.OpenAsync(_bus.Port, cancellationToken);
        await connection.SendHeadersAsync(1, [.. Fields(method), .. fields], isEnd: false, cancellationToken);
        await connection.SendDataAsync(1, body, isEnd: true, cancellationToken);
        return await connection.OutcomeAsync(1, cancellationToken);
    }

    private static IEnumerable<byte[]> Fields(string method) => Head(method).Select(field => RawHttp2.Literal(field.Name, field.Value));

    // Its body may come later than its head.
    private static bool IsWhole(string request)
    {
        const string Length = "\r\nContent-Length: ";
        var end = request.IndexOf("\r\n\r\n", StringComparison.Ordinal);
        if (end < 0)
            return false;
        var start = request.IndexOf(Length, StringComparison.OrdinalIgnoreCase);
        if (start < 0 || start >= end)
            return !request.Contains("chunked", StringComparison.Ordinal) || request.EndsWith("\r\n0\r\n\r\n", StringComparison.Ordinal);
        start += Length.Length;
        return request.Length - end - 4
            >= int.Parse(
                request.AsSpan(start, request.IndexOf("\r\n", start, StringComparison.Ordinal) - start),
                CultureInfo.InvariantCulture
            );
    }

    private static (string Name, string Value)[] Head(string method) =>
        [(":method", method), (":scheme", "http"), (":path", "/in"), (":authority", "bus")];
}
