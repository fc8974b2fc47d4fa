namespace Esb.Tests.Endpoints.Http.Relaying;

/// <summary>Which headers a relay passes, changes and adds, and whom it believes.</summary>
[CancelAfter(30_000)]
public sealed class RelayHeaderTests
{
    private HttpBus _bus = null!;

    [SetUp]
    public void CreateBus() => _bus = new HttpBus();

    [TearDown]
    public async Task StopBus() => await _bus.DisposeAsync();

    [Test, Property("Case", "HTP-20")]
    public async Task What_a_caller_says_of_its_way_is_not_believed(CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync();
        await StartAsync(backend.Url);

        await AskAsync(
            "Via: 1.0 fred\r\nX-Forwarded-For: 9.9.9.9\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: evil\r\nForwarded: for=9.9.9.9\r\n",
            cancellationToken
        );

        Assert.That(
            backend.Requests.Single(),
            Does.Contain("\nVia: 1.0 fred, 1.1 esb\n")
                .And.Contain("\nX-Forwarded-For: 127.0.0.1\n")
                .And.Contain("\nX-Forwarded-Proto: http\n")
                .And.Contain("\nX-Forwarded-Host: bus\n")
                .And.Not.Contain("9.9.9.9")
                .And.Not.Contain("evil")
        );
    }

    [TestCase("127.0.0.1"), TestCase("127.0.0.0/8"), Property("Case", "HTP-20")]
    public async Task Trusted_proxy_is_believed_and_named(string network, CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync();
        await StartAsync(backend.Url, listener: $$""", "trustedProxies": ["10.0.0.0/8", "{{network}}"] """);

        await AskAsync(
            "X-Forwarded-For: 9.9.9.9, 10.1.2.3\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: shop.example\r\n",
            cancellationToken
        );

        Assert.That(
            backend.Requests.Single(),
            Does.Contain("\nX-Forwarded-For: 9.9.9.9, 10.1.2.3, 127.0.0.1\n")
                .And.Contain("\nX-Forwarded-Proto: https\n")
                .And.Contain("\nX-Forwarded-Host: shop.example\n")
        );
    }

    [Test, Property("Case", "HTP-20")]
    public async Task Nothing_is_told_of_the_way_where_nothing_shall_be_and_lies_end_here_all_the_same(CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync();
        await StartAsync(backend.Url, """ , "forwarded": false """);

        await AskAsync("X-Forwarded-For: 9.9.9.9\r\n", cancellationToken);

        Assert.That(backend.Requests.Single(), Does.Not.Contain("X-Forwarded").And.Not.Contain("Via"));
    }

    [Test]
    public async Task Request_that_goes_in_circles_is_stopped(CancellationToken cancellationToken)
    {
        await _bus.StartAsync(
            $$"""
            "in": { "type": "http-inbound", "path": "/in", "relay": "out" },
            "out": { "type": "http-outbound", "url": "{{_bus.Address}}in", "poolSize": 100 }
            """
        );

        var answer = await AskAsync("", cancellationToken);

        Assert.That(answer, Does.StartWith("HTTP/1.1 508 ").And.Contain("ESB-HTTP-LOOP"));
    }

    [Test]
    public async Task Headers_are_removed_then_renamed_then_set_by_both_endpoints(CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync(context =>
        {
            context.Response.Headers["Server"] = "secret/1.0";
            context.Response.Headers["X-Old"] = "answer";
            return Task.CompletedTask;
        });
        await StartAsync(
            backend.Url,
            """ , "rewriteHeaders": { "remove": ["x-secret-*"], "rename": { "X-Old": "X-New" }, "set": { "X-Zone": "north" } }, "rewriteAnswerHeaders": { "remove": ["Server"], "set": { "Strict-Transport-Security": "max-age=1" } } """,
            """ , "rewriteHeaders": { "rename": { "x-new": "X-Newest" }, "set": { "X-Key": "42" } }, "rewriteAnswerHeaders": { "rename": { "X-Old": "X-Answer" } } """
        );

        var answer = await AskAsync("X-Secret-A: 1\r\nX-Old: 2\r\nX-Zone: south\r\nX-Key: 0\r\n", cancellationToken);

        Assert.That(
            backend.Requests.Single(),
            Does.Contain("\nX-Newest: 2\n")
                .And.Contain("\nX-Zone: north\n")
                .And.Contain("\nX-Key: 42\n")
                .And.Not.Contain("X-Secret")
                .And.Not.Contain("south")
                .And.Not.Contain("X-Old")
        );
        Assert.That(
            answer,
            Does.Contain("\r\nX-Answer: answer\r\n")
                .And.Contain("\r\nStrict-Transport-Security: max-age=1\r\n")
                .And.Not.Contain("secret/1.0")
                .And.Not.Contain("X-Old")
        );
    }

    [Test]
    public async Task Headers_of_messages_are_rewritten_on_their_way_in_and_out(CancellationToken cancellationToken)
    {
        await _bus.With("echo", (_, _) => ValueTask.CompletedTask)
            .StartAsync(
                """
                "in": { "type": "http-inbound", "path": "/in", "process": "echo", "mode": "request-reply", "headers": ["x-*", "accept-language"],
                        "rewriteHeaders": { "remove": ["x-b"], "rename": { "Accept-Language": "x-language" }, "set": { "x-zone": "north" } }, "rewriteAnswerHeaders": { "rename": { "x-zone": "x-area" } } }
                """
            );

        var answer = await AskAsync("X-A: 1\r\nX-B: 2\r\nAccept-Language: de\r\nX-Zone: south\r\n", cancellationToken);

        Assert.That(
            answer,
            Does.StartWith("HTTP/1.1 200 ")
                .And.Contain("\r\nX-A: 1\r\n")
                .And.Contain("\r\nx-language: de\r\n")
                .And.Contain("\r\nx-area: north\r\n")
                .And.Not.Contain("X-B")
                .And.Not.Contain("south")
        );
    }

    [
        TestCase("set", """{ "X A": "1" }""", "HDR-05"),
        TestCase("set", """{ "X-A:": "1" }""", "HDR-05"),
        TestCase("set", """{ "X-\r\nB": "1" }""", "HDR-05"),
        TestCase("set", """{ "größe": "1" }""", "HDR-05")
    ]
    [
        TestCase("set", """{ "X-A": "1\r\nX-B: 2" }""", "HDR-06"),
        TestCase("set", """{ "X-A": "1\u0000" }""", "HDR-06"),
        TestCase("set", """{ "X-A": "1\n" }""", "HDR-06"),
        TestCase("set", """{ "X-A": "\u0085" }""", "HDR-06")
    ]
    [
        TestCase("set", """{ "Esb-Key": "1" }""", "HDR-01"),
        TestCase("set", """{ "MT-Host-Info": "1" }""", "HDR-02"),
        TestCase("set", """{ "cc": "1" }""", "HDR-03"),
        TestCase("rename", """{ "X-A": "esb-party" }""", "HDR-01"),
        TestCase("rename", """{ "X-A": "bcc" }""", "HDR-03")
    ]
    [
        TestCase("set", """{ "Content-Length": "0" }""", "HDR-09"),
        TestCase("set", """{ "transfer-encoding": "chunked" }""", "HDR-09"),
        TestCase("rename", """{ "X-A": "Connection" }""", "HDR-09"),
        TestCase("rename", """{ "X-A": "Host" }""", "HDR-09")
    ]
    [
        TestCase("set", """{ "X-A": "1", "x-a": "2" }""", "HDR-07"),
        TestCase("remove", """["x a"]""", "HDR-05"),
        TestCase("remove", """["esb-*"]""", "HDR-01")
    ]
    public void Change_that_cannot_be_made_is_refused_at_the_start(string property, string value, string _)
    {
        var rewrite = $$"""{ "{{property}}": {{value}} }""";
        _bus.Read(
            $$"""
            "in": { "type": "http-inbound", "path": "/in", "relay": "out", "rewriteHeaders": {{rewrite}} },
            "out": { "type": "http-outbound", "url": "http://127.0.0.1:1/", "rewriteAnswerHeaders": {{rewrite}} }
            """
        );

        Assert.That(
            _bus.Errors.All.Select(error => (error.Code, error.Path)),
            Is.EqualTo(
                new[]
                {
                    ("ESB-CFG-HEADER", $"endpoints.in.rewriteHeaders.{property}"),
                    ("ESB-CFG-HEADER", $"endpoints.out.rewriteAnswerHeaders.{property}"),
                }
            )
        );
    }

    [
        TestCase("X-A: a\u0001b\r\n", "ESB-HDR-VALUE"),
        TestCase("X-A: a\u007fb\r\n", "ESB-HDR-VALUE"),
        TestCase("X-A: a\rX-B: b\r\n", "ESB-HTTP-REQUEST"),
        TestCase("X-A: a\0b\r\n", "ESB-HTTP-REQUEST"),
        TestCase("X-A: a\r\n b\r\n", "ESB-HTTP-REQUEST"),
        TestCase("X-A\t: a\r\n", "ESB-HTTP-REQUEST")
    ]
    [Property("Case", "HTP-09")]
    public async Task Header_that_breaks_out_of_its_line_reaches_nobody(string header, string code, CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync();
        await StartAsync(backend.Url);

        var answer = await AskAsync(header, cancellationToken);

        Assert.That(answer, Does.StartWith("HTTP/1.1 400 ").And.Contain(code));
        Assert.That(backend.Requests, Is.Empty);
    }

    [Test, Property("Case", "HDR-01"), Property("Case", "HDR-02"), Property("Case", "HDR-03")]
    public async Task Reserved_header_passes_in_neither_direction(
        [Values(
            "Esb-Key",
            "esb-attempt",
            "ESB-Fault",
            "MT-Fault-Address",
            "mt-host-info",
            "CC",
            "bcc",
            "X-Death",
            "x-first-death-queue",
            "X-Last-Death-Reason",
            "x-delivery-count",
            "x-dotnet-pub-seq-no",
            "x-match"
        )]
            string name,
        [Values("", """ , "headers": ["*"] """)] string allowed,
        CancellationToken cancellationToken
    )
    {
        await using var backend = await Backend.StartAsync(context =>
        {
            context.Response.Headers[name] = "stolen";
            context.Response.Headers["X-Other"] = "back";
            return Task.CompletedTask;
        });
        await StartAsync(backend.Url, allowed, allowed);

        var answer = await AskAsync($"{name}: stolen\r\nX-Other: there\r\n", cancellationToken);

        Assert.That(
            backend.Requests.Single(),
            Does.Contain("\nX-Other: there\n").And.Not.Contain("stolen").And.Not.Contain($"\n{name}:").IgnoreCase
        );
        Assert.That(
            answer,
            Does.StartWith("HTTP/1.1 200 ")
                .And.Contain("\r\nX-Other: back\r\n")
                .And.Not.Contain("stolen")
                .And.Not.Contain($"\n{name}:")
                .IgnoreCase
        );
    }

    [TestCase("a\rb"), TestCase("a\tb"), TestCase("a\u0001b"), TestCase("a#b"), TestCase("a\u007fb"), Property("Case", "HDR-06")]
    public async Task Query_that_is_none_reaches_nobody(string query, CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync();
        await StartAsync(backend.Url);

        var answer = await RawConnection.AskAsync(
            _bus.Port,
            $"POST /in?{query} HTTP/1.1\r\nHost: bus\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
            cancellationToken
        );

        Assert.That(answer, Does.StartWith("HTTP/1.1 400 "));
        Assert.That(backend.Requests, Is.Empty);
    }

    [
        TestCase("00-zz-b7ad6b7169203331-01"),
        TestCase("nonsense"),
        TestCase("00-00000000000000000000000000000000-b7ad6b7169203331-01"),
        Property("Case", "HDR-10")
    ]
    public async Task Malformed_trace_begins_anew(string traceparent, CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync();
        await StartAsync(backend.Url);

        var answer = await AskAsync(
            $"traceparent: {traceparent}\r\nbaggage: "
                + $"{string.Join(',', Enumerable.Range(0, 50).Select(number => $"key{number}={new string('x', 200)}"))}\r\n",
            cancellationToken
        );

        Assert.That(answer, Does.StartWith("HTTP/1.1 200 "));
        Assert.That(
            backend.Requests.Single(),
            Does.Match("\ntraceparent: 00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]\n")
                .And.Not.Contain("b7ad6b7169203331")
                .And.Not.Contain("nonsense")
        );
        var baggage =
            backend.Requests.Single().Split('\n').SingleOrDefault(line => line.StartsWith("baggage:", StringComparison.OrdinalIgnoreCase))
            ?? "";
        Assert.That(baggage, Has.Length.LessThanOrEqualTo(8 * 1024 + 16), "more than 8 KiB goes no further");
    }

    [Test, Property("Case", "HDR-13")]
    public async Task Times_and_priorities_in_headers_are_data(CancellationToken cancellationToken)
    {
        await _bus.StartAsync(""" "in": { "type": "http-inbound", "path": "/in", "publish": "orders.new" } """);

        await AskAsync(
            "X-Timestamp: 9999-12-31T23:59:59Z\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\nX-Priority: -1\r\nX-Delay: 99999d\r\n",
            cancellationToken
        );

        var message = _bus.Published.Single();
        Assert.That(message.Headers["x-timestamp"], Is.EqualTo("9999-12-31T23:59:59Z"));
        Assert.That((message.Headers["x-priority"], message.Headers["x-delay"]), Is.EqualTo(("-1", "99999d")));
        Assert.That(message.CreatedAt, Is.EqualTo(TimeProvider.System.GetUtcNow()).Within(TimeSpan.FromMinutes(1)));
    }

    private Task<string> AskAsync(string headers, CancellationToken cancellationToken) =>
        RawConnection.AskAsync(
            _bus.Port,
            $"POST /in HTTP/1.1\r\nHost: bus\r\nConnection: close\r\nContent-Length: 2\r\n{headers}\r\n{{}}",
            cancellationToken
        );

    private Task StartAsync(string url, string inbound = "", string outbound = "", string listener = "") =>
        _bus.StartAsync(
            $$"""
            "in": { "type": "http-inbound", "path": "/in", "relay": "out" {{inbound}} },
            "out": { "type": "http-outbound", "url": "{{url}}" {{outbound}} }
            """,
            $$""", "listeners": { "public": { "url": "{{_bus.Address.OriginalString}}" {{listener}} } }"""
        );
}
