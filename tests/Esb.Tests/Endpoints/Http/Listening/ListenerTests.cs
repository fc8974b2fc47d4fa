using System.Net;
using System.Net.Sockets;
using System.Text;
using Esb.Tests.Fakes;
using Microsoft.AspNetCore.Http;

namespace Esb.Tests.Endpoints.Http.Listening;

/// <summary>What listeners let in, and how they speak.</summary>
[CancelAfter(30_000)]
public sealed class ListenerTests
{
    private HttpBus _bus = null!;

    [SetUp]
    public void CreateBus() => _bus = new HttpBus();

    [TearDown]
    public async Task StopBus() => await _bus.DisposeAsync();

    [TestCase("esb.example.com", 202), TestCase("ESB.example.com", 202), TestCase("a.shop.example", 202), TestCase("local:8080", 202)]
    [
        TestCase("evil.example", 400),
        TestCase("shop.example", 400),
        TestCase("esb.example.com.evil.example", 400),
        TestCase("local:81", 400),
        TestCase("local", 400),
        TestCase("", 400)
    ]
    [Property("Case", "HTP-19")]
    public async Task Only_hosts_of_the_list_are_answered_for(string host, int expected, CancellationToken cancellationToken)
    {
        await StartAsync(""" , "hosts": ["esb.example.com", "*.shop.example", "local:8080"] """);

        var answer = await RawConnection.AskAsync(
            _bus.Port,
            $"POST /in HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx",
            cancellationToken
        );

        Assert.That(answer, Does.StartWith($"HTTP/1.1 {expected} "));
        if (expected == 400)
            Assert.That(answer, Does.Contain("ESB-HTTP-HOST"));
        Assert.That(_bus.Published, Has.Count.EqualTo(expected == 202 ? 1 : 0));
    }

    [
        TestCase(
            "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n",
            501
        ),
        TestCase("Connection: Upgrade\r\nUpgrade: h2c, websocket\r\n", 501),
        TestCase("Upgrade: TLS/1.0\r\n", 501)
    ]
    [TestCase("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n", 202)]
    public async Task Upgrade_is_refused_and_only_that_to_the_next_version_passed_over(
        string headers,
        int expected,
        CancellationToken cancellationToken
    )
    {
        await StartAsync();

        var answer = await RawConnection.AskAsync(
            _bus.Port,
            $"POST /in HTTP/1.1\r\nHost: bus\r\n{headers}Content-Length: 1\r\nConnection: close\r\n\r\nx",
            cancellationToken
        );

        Assert.That(answer, Does.StartWith($"HTTP/1.1 {expected} "));
        if (expected == 501)
            Assert.That(answer, Does.Contain("application/problem+json").And.Contain("ESB-HTTP-UPGRADE"));
    }

    [Test]
    public async Task Tunnel_is_refused(CancellationToken cancellationToken)
    {
        await StartAsync();

        var answer = await RawConnection.AskAsync(
            _bus.Port,
            "CONNECT inside:22 HTTP/1.1\r\nHost: inside:22\r\nConnection: close\r\n\r\n",
            cancellationToken
        );

        Assert.That(answer, Does.StartWith("HTTP/1.1 501 ").And.Contain("ESB-HTTP-UPGRADE"));
    }

    [Test]
    public async Task Connection_is_closed_after_each_answer_where_it_shall_not_be_kept(CancellationToken cancellationToken)
    {
        await using var backend = RawBackend.Answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", awaited: "x");
        await _bus.StartAsync(
            $$"""
            "in": { "type": "http-inbound", "path": "/in", "relay": "out", "keepAlive": false },
            "out": { "type": "http-outbound", "url": "{{backend.Url}}", "keepAlive": false }
            """
        );

        for (var request = 1; request <= 2; request++)
        {
            var answer = await RawConnection.AskAsync(
                _bus.Port,
                "POST /in HTTP/1.1\r\nHost: bus\r\nContent-Length: 1\r\n\r\nx",
                cancellationToken
            );

            Assert.That(answer, Does.Contain("\r\nConnection: close\r\n").And.EndWith("\r\n\r\nok"));
            Assert.That(backend.Connections, Is.EqualTo(request));
        }
    }

    [Test]
    public async Task Connection_that_shall_not_be_kept_is_closed_after_a_failure_too(CancellationToken cancellationToken)
    {
        await _bus.StartAsync(
            $$"""
            "in": { "type": "http-inbound", "path": "/in", "relay": "out", "keepAlive": false },
            "out": { "type": "http-outbound", "url": "http://127.0.0.1:{{FreePorts.Next()}}/" }
            """
        );

        var answer = await RawConnection.AskAsync(
            _bus.Port,
            "POST /in HTTP/1.1\r\nHost: bus\r\nContent-Length: 1\r\n\r\nx",
            cancellationToken
        );

        Assert.That(answer, Does.StartWith("HTTP/1.1 502 ").And.Contain("\r\nConnection: close\r\n"));
    }

    [Test]
    public async Task Idle_connections_to_the_outside_are_closed_in_time(CancellationToken cancellationToken)
    {
        var closed = new TaskCompletionSource();
        await using var backend = new RawBackend(
            async (connection, _, stopping) =>
            {
                await connection.ReadUntilAsync("x", stopping);
                await connection.WriteAsync("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", stopping);
                if ((await connection.ReadToEndAsync(stopping)).Length == 0)
                    closed.SetResult();
            }
        );
        await _bus.StartAsync(
            $$"""
            "in": { "type": "http-inbound", "path": "/in", "relay": "out" },
            "out": { "type": "http-outbound", "url": "{{backend.Url}}", "idleTimeout": "1s" }
            """
        );

        await RawConnection.AskAsync(
            _bus.Port,
            "POST /in HTTP/1.1\r\nHost: bus\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx",
            cancellationToken
        );

        await closed.Task.WaitAsync(cancellationToken);
    }

    [Test]
    public async Task Content_type_chooses_between_a_relay_and_messages(CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync();
        await _bus.StartAsync(
            $$"""
            "orders": { "type": "http-inbound", "path": "/in", "publish": "orders.new", "accept": ["application/xml", "text/xml"] },
            "images": { "type": "http-inbound", "path": "/in", "relay": "out", "accept": ["image/*"] },
            "rest": { "type": "http-inbound", "path": "/in", "publish": "orders.rest" },
            "out": { "type": "http-outbound", "url": "{{backend.Url}}" }
            """
        );

        var statuses = new List<HttpStatusCode>();
        foreach (var type in new[] { "text/xml", "image/png", "application/json" })
        {
            using var response = await _bus.PostAsync("/in", "x", type, cancellationToken);
            statuses.Add(response.StatusCode);
        }

        Assert.That(statuses, Is.EqualTo(new[] { HttpStatusCode.Accepted, HttpStatusCode.OK, HttpStatusCode.Accepted }));
        Assert.That(backend.Requests.Single(), Does.Contain("Content-Type: image/png"));
        Assert.That(
            _bus.Published.Select(message => message.ContentType),
            Is.EqualTo(new[] { "text/xml; charset=utf-8", "application/json; charset=utf-8" })
        );
    }

    [
        TestCase("\"text/*\"", "\"text/xml\"", true),
        TestCase("\"text/xml\"", "\"text/xml\"", true),
        TestCase("\"text/xml\"", "\"application/xml\"", false),
        TestCase("\"text/xml\"", "", false)
    ]
    public void Endpoints_at_one_path_must_differ_in_what_they_take(string first, string second, bool isRefused)
    {
        _bus.Read(
            $$"""
            "a": { "type": "http-inbound", "path": "/in", "publish": "orders.new", "accept": [{{first}}] },
            "b": { "type": "http-inbound", "path": "/in", "publish": "orders.new", "accept": [{{second}}] }
            """
        );

        Assert.That(_bus.Errors.All.Select(error => error.Code), Is.EqualTo(isRefused ? new[] { "ESB-CFG-ROUTE" } : []));
    }

    [
        TestCase(""" "hosts": ["a b"] """),
        TestCase(""" "hosts": ["http://a"] """),
        TestCase(""" "hosts": [""] """),
        TestCase(""" "trustedProxies": ["here"] """),
        TestCase(""" "trustedProxies": ["10.0.0.0/99"] """)
    ]
    public void List_that_lets_nobody_in_is_refused(string property)
    {
        _bus.Read(
            """ "in": { "type": "http-inbound", "path": "/in", "publish": "orders.new" } """,
            $$""", "listeners": { "public": { "url": "http://127.0.0.1:8080", {{property}} } }"""
        );

        Assert.That(_bus.Errors.All.Select(error => error.Code), Is.EqualTo(new[] { "ESB-CFG-VALUE" }));
    }

    [
        TestCase("POST /in HTTP/1.1\r\nHost: bus\r\nContent-Length: 10\r\n\r\nfive!"),
        TestCase("PUT /in HTTP/1.1\r\nHost: bus\r\nContent-Length: 10\r\n\r\nfive!"),
        TestCase("PUT /in HTTP/1.1\r\nHost: bus\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfive!\r\n")
    ]
    [Property("Case", "HTP-05")]
    public async Task Body_that_stands_still_is_given_up(string request, CancellationToken cancellationToken)
    {
        var cutOff = new TaskCompletionSource<string>();
        await using var backend = new RawBackend(
            async (connection, _, stopping) => cutOff.TrySetResult(await connection.ReadToEndAsync(stopping))
        );
        await StartAsync(""" , "bodyTimeout": "2s" """, backend.Url);

        var answer = await RawConnection.AskAsync(_bus.Port, request, cancellationToken);

        Assert.That(answer, Does.StartWith("HTTP/1.1 408 ").And.Contain("ESB-HTTP-SLOW").And.Contain("Connection: close"));
        Assert.That(_bus.Published, Is.Empty);
        if (request.StartsWith("PUT", StringComparison.Ordinal))
            Assert.That(await cutOff.Task.WaitAsync(cancellationToken), Does.Contain("five!").And.Not.Contain("\r\n0\r\n\r\n"));
    }

    [TestCase("POST"), TestCase("PUT"), Property("Case", "HTP-29")]
    public async Task Body_that_drips_is_given_up(string method, CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync();
        await StartAsync(""" , "bodyTimeout": "2s" """, backend.Url);
        using var connection = await RawConnection.OpenAsync(_bus.Port, cancellationToken);
        await connection.WriteAsync($"{method} /in HTTP/1.1\r\nHost: bus\r\nContent-Length: 1000\r\n\r\n", cancellationToken);

        var answer = connection.ReadUntilAsync("}", cancellationToken);
        await DripAsync(connection, "x", answer, cancellationToken);

        Assert.That(await answer, Does.StartWith("HTTP/1.1 408 ").And.Contain("ESB-HTTP-SLOW"));
    }

    [Test, Property("Case", "HTP-29")]
    public async Task Head_that_drips_is_given_up(CancellationToken cancellationToken)
    {
        await StartAsync(""" , "headTimeout": "1s" """);
        using var connection = await RawConnection.OpenAsync(_bus.Port, cancellationToken);
        await connection.WriteAsync("POST /in HTTP/1.1\r\n", cancellationToken);

        var answer = connection.ReadUntilAsync("}", cancellationToken);
        await DripAsync(connection, "X", answer, cancellationToken);

        Assert.That(await answer, Does.StartWith("HTTP/1.1 408 ").And.Contain("ESB-HTTP-SLOW"));
    }

    [Test]
    public async Task Http2_is_spoken_to_callers_that_know_of_it(CancellationToken cancellationToken)
    {
        var begun = new TaskCompletionSource();
        await using var backend = await Backend.StartAsync(async context =>
        {
            if (context.Request.Query.ContainsKey("break"))
            {
                context.Response.ContentLength = 10;
                await context.Response.WriteAsync("five!");
                await context.Response.Body.FlushAsync();
                await begun.Task;
                context.Abort();
                return;
            }

            await context.Response.WriteAsync(Encoding.UTF8.GetString(((MemoryStream)context.Request.Body).ToArray()).ToUpperInvariant());
        });
        await StartAsync(""" , "versions": "http2" """, backend.Url);
        using var client = new HttpClient
        {
            BaseAddress = _bus.Address,
            DefaultRequestVersion = HttpVersion.Version20,
            DefaultVersionPolicy = HttpVersionPolicy.RequestVersionExact,
        };

        using var message = await client.PostAsync("/in", new StringContent("<order/>"), cancellationToken);
        using var relayed = await client.PutAsync("/in?a=b", new StringContent("<order/>"), cancellationToken);
        using var broken = await client.SendAsync(
            new HttpRequestMessage(HttpMethod.Put, "/in?break")
            {
                Content = new StringContent("x"),
                Version = HttpVersion.Version20,
                VersionPolicy = HttpVersionPolicy.RequestVersionExact,
            },
            HttpCompletionOption.ResponseHeadersRead,
            cancellationToken
        );
        begun.SetResult();

        Assert.That((message.StatusCode, message.Version), Is.EqualTo((HttpStatusCode.Accepted, HttpVersion.Version20)));
        Assert.That(await relayed.Content.ReadAsStringAsync(cancellationToken), Is.EqualTo("<ORDER/>"));
        Assert.That(
            backend.Requests[0],
            Does.StartWith("PUT /backend?a=b\n").And.Contain("Via: 2 esb").And.Contain("X-Forwarded-Host: 127.0.0.1")
        );
        Assert.That(() => broken.Content.ReadAsStringAsync(cancellationToken), Throws.InstanceOf<HttpRequestException>());
    }

    [Test]
    public async Task Trailers_pass_over_http2(CancellationToken cancellationToken)
    {
        await using var backend = RawBackend.Answering(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 42\r\n\r\n"
        );
        await StartAsync(""" , "versions": "http2" """, backend.Url);
        using var client = new HttpClient { BaseAddress = _bus.Address };
        using var request = new HttpRequestMessage(HttpMethod.Put, "/in")
        {
            Version = HttpVersion.Version20,
            VersionPolicy = HttpVersionPolicy.RequestVersionExact,
            Headers = { { "TE", "trailers" } },
        };

        using var response = await client.SendAsync(request, cancellationToken);

        Assert.That(await response.Content.ReadAsStringAsync(cancellationToken), Is.EqualTo("ok"));
        Assert.That(response.TrailingHeaders.GetValues("X-Sum"), Is.EqualTo(new[] { "42" }));
    }

    [Test, Property("Case", "HTP-32")]
    public async Task Caller_that_begins_and_drops_streams_loses_its_connection_and_others_do_not(CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync();
        await StartAsync(""" , "versions": "http2" """, backend.Url);
        using var client = new HttpClient
        {
            BaseAddress = _bus.Address,
            DefaultRequestVersion = HttpVersion.Version20,
            DefaultVersionPolicy = HttpVersionPolicy.RequestVersionExact,
        };
        using var before = await client.PutAsync("/in", new StringContent("x"), cancellationToken);
        using var socket = new TcpClient();
        await socket.ConnectAsync(IPAddress.Loopback, _bus.Port, cancellationToken);
        var stream = socket.GetStream();
        await stream.WriteAsync("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u0004\0\0\0\0\0"u8.ToArray(), cancellationToken);

        var reading = ReadToEndAsync(stream, cancellationToken);
        try
        {
            for (var sent = 0; sent < 10_000 && !reading.IsCompleted; sent++)
                await stream.WriteAsync(BeginAndDrop((2 * sent) + 1), cancellationToken);
        }
        catch (IOException)
        {
            // cut off
        }

        await reading; // which ends when the server closes the connection
        using var after = await client.PutAsync("/in", new StringContent("x"), cancellationToken);
        Assert.That(backend.Requests, Has.Count.LessThan(1_000), "few of them were begun at all");
        Assert.That((before.StatusCode, after.StatusCode), Is.EqualTo((HttpStatusCode.OK, HttpStatusCode.OK)));
        await Eventually.HoldsAsync(
            () => _bus.Status.Sum(endpoint => endpoint.InFlight) == 0,
            "the end of what was begun",
            cancellationToken
        );
    }

    // HEADERS with END_HEADERS (PUT /in), and RST_STREAM with CANCEL (RFC 9113, section 6).
    private static byte[] BeginAndDrop(int stream)
    {
        byte[] id = [(byte)(stream >> 24), (byte)(stream >> 16), (byte)(stream >> 8), (byte)stream];
        byte[] block = [0x02, 3, .. "PUT"u8, 0x86, 0x04, 3, .. "/in"u8, 0x01, 3, .. "bus"u8];
        return [0, 0, (byte)block.Length, 0x01, 0x04, .. id, .. block, 0, 0, 4, 0x03, 0, .. id, 0, 0, 0, 8];
    }

    private static async Task ReadToEndAsync(NetworkStream stream, CancellationToken cancellationToken)
    {
        var buffer = new byte[64 * 1024];
        try
        {
            while (await stream.ReadAsync(buffer, cancellationToken) > 0)
            {
                // what it says does not matter
            }
        }
        catch (IOException)
        {
            // cut off
        }
    }

    private static async Task DripAsync(RawConnection connection, string drop, Task answer, CancellationToken cancellationToken)
    {
        try
        {
            while (!answer.IsCompleted)
            {
                await connection.WriteAsync(drop, cancellationToken);
                await Task.WhenAny(answer, Task.Delay(250, cancellationToken)); // the pace of the caller
            }
        }
        catch (SocketException)
        {
            // Closed behind the answer, which is looked at.
        }
    }

    private Task StartAsync(string listener = "", string url = "http://127.0.0.1:1/") =>
        _bus.StartAsync(
            $$"""
            "in": { "type": "http-inbound", "path": "/in", "publish": "orders.new" },
            "relay": { "type": "http-inbound", "path": "/in", "methods": ["PUT"], "relay": "out" },
            "out": { "type": "http-outbound", "url": "{{url}}", "poolSize": 100 }
            """,
            $$""", "listeners": { "public": { "url": "{{_bus.Address.OriginalString}}" {{listener}} } }"""
        );
}
