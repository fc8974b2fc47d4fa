using System.Net;
using System.Text;

namespace Esb.Tests.Endpoints.Http.Relaying;

/// <summary>Relays that choose by what is in a request, and pass it on unread.</summary>
[CancelAfter(30_000)]
public sealed class RelayRouteTests
{
    private const string Routes = """
        "routes": [
          { "if": { "header": "x-urgent", "exists": true }, "relay": "urgent" },
          { "if": { "xpath": "/order/symbol[1] = 'IBM'" }, "relay": "ibm" },
          { "if": { "xpath": "/order/symbol[1] = 'SUN'" }, "relay": "sun" }]
        """;

    private HttpBus _bus = null!;

    [SetUp]
    public void CreateBus() => _bus = new HttpBus();

    [TearDown]
    public async Task StopBus() => await _bus.DisposeAsync();

    [TestCase("<order><symbol>IBM</symbol></order>", null, "/ibm"), TestCase("<order><symbol>SUN</symbol></order>", null, "/sun")]
    [
        TestCase("<order><symbol>HAL</symbol></order>", null, "/others"),
        TestCase("<order><symbol>SUN</symbol></order>", "yes", "/urgent"),
        TestCase("no XML", "yes", "/urgent")
    ]
    public async Task First_route_whose_condition_holds_counts(string order, string? urgent, string expected)
    {
        await using var backend = await Backend.StartAsync();
        await StartAsync(backend.Url, Routes);
        using var request = new HttpRequestMessage(HttpMethod.Post, "/orders")
        {
            Content = new StringContent(order, Encoding.UTF8, "application/xml"),
        };
        if (urgent is not null)
            request.Headers.Add("x-urgent", urgent);

        using var answer = await _bus.Client.SendAsync(request);

        Assert.That(backend.Requests.Single(), Does.StartWith($"POST {expected}\n").And.EndsWith($"\n\n{order}"));
        Assert.That(await answer.Content.ReadAsStringAsync(), Is.EqualTo(order));
    }

    [TestCase("""{ "order": { "symbol": "IBM" } }""", "/ibm"), TestCase("""{ "order": { "symbol": "SUN" } }""", "/others")]
    public async Task Route_may_ask_by_jsonpath(string order, string expected)
    {
        await using var backend = await Backend.StartAsync();
        await StartAsync(backend.Url, """ "routes": [{ "if": { "jsonpath": "$.order.symbol", "equals": "IBM" }, "relay": "ibm" }] """);

        using var answer = await _bus.PostAsync("/orders", order, "application/json");

        Assert.That(backend.Requests.Single(), Does.StartWith($"POST {expected}\n").And.EndsWith($"\n\n{order}"));
    }

    [Test]
    public async Task What_decided_goes_on_while_the_rest_is_still_coming(CancellationToken cancellationToken)
    {
        var begun = new TaskCompletionSource<string>();
        await using var backend = new RawBackend(
            async (connection, _, stopping) =>
            {
                begun.SetResult(await connection.ReadUntilAsync("</symbol>", stopping));
                await connection.ReadUntilAsync("</order>", stopping);
                await connection.WriteAsync("HTTP/1.1 204 No Content\r\n\r\n", stopping);
            }
        );
        await StartAsync(backend.Url, Routes);
        var beginning = $"<order><symbol>SUN</symbol><text>{new string('x', 5_000)}";
        const string Rest = "</text></order>";

        using var connection = await RawConnection.OpenAsync(_bus.Port, cancellationToken);
        await connection.WriteAsync(
            $"POST /orders HTTP/1.1\r\nHost: bus\r\nConnection: close\r\nContent-Length: "
                + $"{beginning.Length + Rest.Length}\r\n\r\n{beginning}",
            cancellationToken
        );
        Assert.That(await begun.Task.WaitAsync(cancellationToken), Does.StartWith("POST /sun HTTP/1.1\r\n"), "before the rest was sent");
        await connection.WriteAsync(Rest, cancellationToken);

        Assert.That(await connection.ReadToEndAsync(cancellationToken), Does.StartWith("HTTP/1.1 204 "));
    }

    [TestCase(1_000), TestCase(200_000), TestCase(3_000_000)]
    public async Task Late_decision_finds_the_body_whole(int before)
    {
        var received = new MemoryStream();
        await using var backend = await Backend.StartAsync(async context =>
        {
            context.Request.Body.Position = 0;
            await context.Request.Body.CopyToAsync(received);
            context.Response.StatusCode = (int)HttpStatusCode.Created;
        });
        await StartAsync(backend.Url, Routes);
        var order = Encoding.UTF8.GetBytes(
            $"<order><text>{new string('x', before)}</text><symbol>SUN</symbol><text>{new string('y', 500_000)}</text></order>"
        );

        using var chunks = new StreamContent(new SlowStream(order)); // without a length
        using var answer = await _bus.Client.PostAsync("/orders", chunks);

        Assert.That(answer.StatusCode, Is.EqualTo(HttpStatusCode.Created));
        Assert.That(backend.Requests.Single(), Does.StartWith("POST /sun\n"));
        Assert.That(received.ToArray(), Is.EqualTo(order));
    }

    [Test]
    public async Task Late_decision_over_http2_leaves_the_connection_to_the_other_streams(CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync(async context =>
        {
            await Task.Delay(100, cancellationToken);
            context.Response.StatusCode = (int)HttpStatusCode.Created;
        });
        await StartAsync(
            backend.Url,
            Routes,
            $$""", "listeners": { "public": { "url": "{{_bus.Address.OriginalString}}", "versions": "http2" } } """
        );
        using var client = new HttpClient
        {
            BaseAddress = _bus.Address,
            DefaultRequestVersion = HttpVersion.Version20,
            DefaultVersionPolicy = HttpVersionPolicy.RequestVersionExact,
        };
        var order = $"<order><text>{new string('x', 600_000)}</text><symbol>SUN</symbol><text>{new string('y', 1_500_000)}</text></order>";

        var answers = await Task.WhenAll(
            Enumerable
                .Range(0, 6)
                .Select(_ => client.PostAsync("/orders", new StringContent(order, Encoding.UTF8, "application/xml"), cancellationToken))
        );

        Assert.That(answers.Select(answer => answer.StatusCode), Is.All.EqualTo(HttpStatusCode.Created));
        Assert.That(backend.Requests, Has.All.StartsWith("POST /sun\n").And.All.EndsWith($"\n\n{order.Length}"));
    }

    [TestCase("<order><symbol>", HttpStatusCode.BadRequest, "ESB-XML-SYNTAX"), TestCase("", HttpStatusCode.BadRequest, "ESB-XML-EMPTY")]
    public async Task Body_that_the_conditions_cannot_ask_is_refused(string order, HttpStatusCode status, string code)
    {
        await using var backend = await Backend.StartAsync();
        await StartAsync(backend.Url, Routes);

        using var answer = await _bus.PostAsync("/orders", order);

        Assert.That((answer.StatusCode, backend.Requests.Count), Is.EqualTo((status, 0)));
        Assert.That(await answer.Content.ReadAsStringAsync(), Does.Contain(code));
    }

    [Test]
    public async Task Connection_on_which_a_body_was_refused_serves_the_next_request(CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync();
        await StartAsync(backend.Url, Routes);
        using var connection = await RawConnection.OpenAsync(_bus.Port, cancellationToken);

        await connection.WriteAsync(Request("<order><symbol>"), cancellationToken);
        var refused = await connection.ReadUntilAsync("}", cancellationToken);
        await connection.WriteAsync(Request("<order><symbol>SUN</symbol></order>"), cancellationToken);
        var served = await connection.ReadUntilAsync("</order>", cancellationToken);

        Assert.That(refused, Does.StartWith("HTTP/1.1 400 ").And.Contain("ESB-XML-SYNTAX"));
        Assert.That(served, Does.StartWith("HTTP/1.1 200 ").And.Contain("<order><symbol>SUN</symbol></order>"));

        static string Request(string order) =>
            $"POST /orders HTTP/1.1\r\nHost: bus\r\nContent-Type: application/xml\r\nContent-Length: {order.Length}\r\n\r\n{order}";
    }

    [Test]
    public async Task Body_that_does_not_decide_within_the_limit_is_refused(CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync();
        await StartAsync(backend.Url, Routes, """, "limits": { "maxBodySize": "64KiB" } """);

        using var connection = await RawConnection.OpenAsync(_bus.Port, cancellationToken);
        await connection.WriteAsync(
            $"POST /orders HTTP/1.1\r\nHost: bus\r\nContent-Length: 1000000\r\n\r\n<order><text>{new string('x', 100_000)}",
            cancellationToken
        );
        var answer = await connection.ReadUntilAsync("ESB-BODY-SIZE", cancellationToken);

        Assert.That((answer.StartsWith("HTTP/1.1 413 ", StringComparison.Ordinal), backend.Requests.Count), Is.EqualTo((true, 0)), answer);
    }

    [Test]
    public async Task Body_longer_than_the_limit_goes_on_once_its_beginning_has_decided()
    {
        await using var backend = await Backend.StartAsync();
        await StartAsync(backend.Url, Routes, """, "limits": { "maxBodySize": "64KiB" } """);
        var order = $"<order><symbol>IBM</symbol><text>{new string('x', 90_000)}</text></order>";

        using var answer = await _bus.PostAsync("/orders", order);

        Assert.That(backend.Requests.Single(), Does.StartWith("POST /ibm\n").And.EndsWith($"\n\n{order}"));
    }

    [Test]
    public async Task Packed_body_is_refused_where_it_decides()
    {
        await using var backend = await Backend.StartAsync();
        await StartAsync(backend.Url, Routes);
        using var packed = new ByteArrayContent([1, 2, 3]);
        packed.Headers.ContentEncoding.Add("gzip");

        using var answer = await _bus.Client.PostAsync("/orders", packed);

        Assert.That(answer.StatusCode, Is.EqualTo(HttpStatusCode.UnsupportedMediaType));
        Assert.That(await answer.Content.ReadAsStringAsync(), Does.Contain("ESB-HTTP-ENCODING"));
    }

    [TestCase(
        """ "publish": "orders.new", "routes": [{ "if": { "header": "x" }, "relay": "ibm" }] """,
        "ESB-CFG-VALUE",
        "endpoints.orders.routes"
    )]
    [TestCase(
        """ "relay": "others", "routes": [{ "if": { "header": "x" }, "relay": "orders" }] """,
        "ESB-CFG-VALUE",
        "endpoints.orders.routes[0].relay"
    )]
    [TestCase(
        """ "relay": "others", "routes": [{ "if": { "header": "x" }, "relay": "nobody" }] """,
        "ESB-CFG-REF",
        "endpoints.orders.routes[0].relay"
    )]
    [TestCase(
        """ "relay": "others", "routes": [{ "if": { "xpath": "/order[" }, "relay": "ibm" }] """,
        "ESB-XPT-SYNTAX",
        "endpoints.orders.routes[0].if.xpath"
    )]
    public void Route_that_leads_nowhere_is_told_with_its_place(string settings, string code, string path)
    {
        _bus.Read($$""" "orders": { "type": "http-inbound", "path": "/orders", {{settings}} }, {{Targets("http://localhost/backend")}} """);

        Assert.That(_bus.Errors.All.Select(error => (error.Code, error.Path)), Is.EqualTo(new[] { (code, path) }));
    }

    private Task StartAsync(string url, string settings, string more = "") =>
        _bus.StartAsync(
            $$""" "orders": { "type": "http-inbound", "path": "/orders", "relay": "others", {{settings}} }, {{Targets(url)}} """,
            more
        );

    private static string Targets(string url) =>
        string.Join(
            ", ",
            new[] { "urgent", "ibm", "sun", "others" }.Select(name =>
                $$""" "{{name}}": { "type": "http-outbound", "url": "{{url.Replace("/backend", $"/{name}", StringComparison.Ordinal)}}" } """
            )
        );

    /// <summary>Gives a few thousand bytes at a time.</summary>
    private sealed class SlowStream(byte[] bytes) : MemoryStream(bytes)
    {
        public override bool CanSeek => false;

        public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
        {
            await Task.Yield();
            return Read(buffer.Span[..Math.Min(buffer.Length, 3_000)]);
        }
    }
}
