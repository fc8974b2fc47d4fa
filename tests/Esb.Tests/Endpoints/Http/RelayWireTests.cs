using System.Text;
using Esb.Tests.Fakes;

namespace Esb.Tests.Endpoints.Http;

/// <summary>What a relay writes and reads on its two connections, byte for byte.</summary>
[CancelAfter(20_000)]
public sealed class RelayWireTests
{
    private HttpBus _bus = null!;

    [SetUp]
    public void CreateBus() => _bus = new HttpBus();

    [TearDown]
    public async Task StopBus() => await _bus.DisposeAsync();

    [Test]
    public async Task Trailers_of_a_request_reach_the_outside_but_none_that_matter_before_the_body(CancellationToken cancellationToken)
    {
        var received = new TaskCompletionSource<string>();
        await using var backend = new RawBackend(async (connection, _, stopping) =>
        {
            received.SetResult(await connection.ReadUntilAsync("42\r\n\r\n", stopping));
            await connection.WriteAsync("HTTP/1.1 204 No Content\r\n\r\n", stopping);
        });
        await StartAsync(backend.Url);
        const string Request = "POST /relay HTTP/1.1\r\nHost: bus\r\nConnection: close\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nwiki\r\n0\r\n";

        using var connection = await RawConnection.OpenAsync(_bus.Port, cancellationToken);
        await connection.WriteAsync(Request, cancellationToken);
        await connection.WriteAsync("X-Sum: 42\r\nAuthorization: stolen\r\nEsb-Key: a\r\nX-Forwarded-For: 1.2.3.4\r\n\r\n", cancellationToken);
        var answer = await connection.ReadToEndAsync(cancellationToken);

        Assert.That(answer, Does.StartWith("HTTP/1.1 204 "));
        var head = await received.Task;
        Assert.That(head, Does.Contain("\r\nTrailer: X-Sum\r\n").And.Contain("\r\nTransfer-Encoding: chunked\r\n").And.Contain("\r\n\r\n4\r\nwiki\r\n0\r\nX-Sum: 42\r\n\r\n"));
    }

    [Test]
    public async Task Trailers_of_an_answer_reach_a_caller_that_takes_them(CancellationToken cancellationToken)
    {
        await using var backend = RawBackend.Answering("HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n4;ext=1\r\nwiki\r\n3\r\ned.\r\n0\r\nX-Sum: 42\r\nSet-Cookie: no\r\nEsb-Key: no\r\n\r\n");
        await StartAsync(backend.Url);

        var taking = await AskAsync("GET /relay HTTP/1.1\r\nHost: bus\r\nTE: trailers\r\nConnection: TE, close\r\n\r\n", cancellationToken);
        var other = await AskAsync("GET /relay HTTP/1.1\r\nHost: bus\r\nConnection: close\r\n\r\n", cancellationToken);

        Assert.That(taking, Does.Contain("\r\nTrailer: X-Sum\r\n").And.EndWith("0\r\nX-Sum: 42\r\n\r\n").And.Contain("wiki").And.Contain("ed.").And.Not.Contain("Cookie").And.Not.Contain("Esb-Key"));
        Assert.That(other, Does.EndWith("0\r\n\r\n").And.Contain("wiki").And.Not.Contain("X-Sum"));
    }

    [Test]
    public async Task Outside_that_refuses_an_upload_beforehand_never_gets_it_and_the_caller_need_not_send_it(CancellationToken cancellationToken)
    {
        var rest = new TaskCompletionSource<string>();
        await using var backend = new RawBackend(async (connection, _, stopping) =>
        {
            Assert.That(await connection.ReadUntilAsync("\r\n\r\n", stopping), Does.Contain("\r\nExpect: 100-continue\r\n"));
            await connection.WriteAsync("HTTP/1.1 417 No\r\nContent-Length: 3\r\n\r\nno!", stopping);
            rest.SetResult(await connection.ReadToEndAsync(stopping));
        });
        await StartAsync(backend.Url);

        var answer = await AskAsync("POST /relay HTTP/1.1\r\nHost: bus\r\nExpect: 100-continue\r\nContent-Length: 1000000\r\n\r\n", cancellationToken);

        Assert.That(answer, Does.StartWith("HTTP/1.1 417 ").And.Contain("Connection: close").And.EndWith("\r\n\r\nno!").And.Not.Contain("100 Continue"));
        Assert.That(await rest.Task.WaitAsync(cancellationToken), Is.Empty, "the outside sees the end and no body");
    }

    [Test]
    public async Task Caller_is_told_to_go_on_once_the_outside_says_so(CancellationToken cancellationToken)
    {
        var asked = new TaskCompletionSource();
        var go = new TaskCompletionSource();
        await using var backend = new RawBackend(async (connection, _, stopping) =>
        {
            await connection.ReadUntilAsync("\r\n\r\n", stopping);
            asked.SetResult();
            await go.Task.WaitAsync(stopping);
            await connection.WriteAsync("HTTP/1.1 100 Continue\r\n\r\n", stopping);
            await connection.ReadUntilAsync("body", stopping);
            await connection.WriteAsync("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", stopping);
        });
        await StartAsync(backend.Url);
        using var connection = await RawConnection.OpenAsync(_bus.Port, cancellationToken);

        await connection.WriteAsync("POST /relay HTTP/1.1\r\nHost: bus\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n", cancellationToken);
        await asked.Task.WaitAsync(cancellationToken);
        var interim = connection.ReadAsync(cancellationToken);
        Assert.That(interim.IsCompleted, Is.False, "nobody has said yet that the body is wanted");
        go.SetResult();
        Assert.That(await interim, Is.EqualTo("HTTP/1.1 100 Continue\r\n\r\n"));
        await connection.WriteAsync("body", cancellationToken);

        Assert.That(await connection.ReadUntilAsync("ok", cancellationToken), Does.StartWith("HTTP/1.1 200 ").And.EndWith("\r\n\r\nok"));
    }

    [Test]
    public async Task Body_is_sent_after_a_second_to_an_outside_that_knows_no_expectations(CancellationToken cancellationToken)
    {
        await using var backend = RawBackend.Answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", awaited: "body");
        await StartAsync(backend.Url);
        using var connection = await RawConnection.OpenAsync(_bus.Port, cancellationToken);

        await connection.WriteAsync("POST /relay HTTP/1.1\r\nHost: bus\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n", cancellationToken);
        await connection.ReadUntilAsync("100 Continue\r\n\r\n", cancellationToken);
        await connection.WriteAsync("body", cancellationToken);

        Assert.That(await connection.ReadUntilAsync("ok", cancellationToken), Does.StartWith("HTTP/1.1 200 "));
    }

    [TestCase("Content-Length: 100000000\r\n\r\n"), TestCase("Transfer-Encoding: chunked\r\n\r\n5F5E100\r\n")]
    public async Task Early_answer_reaches_a_caller_that_is_still_sending(string framing, CancellationToken cancellationToken)
    {
        var closed = new TaskCompletionSource();
        await using var backend = new RawBackend(async (connection, _, stopping) =>
        {
            await connection.ReadUntilAsync("\r\n\r\n", stopping);
            await connection.WriteAsync("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nno!", stopping);
            await connection.ReadToEndAsync(stopping);
            closed.SetResult();
        });
        await StartAsync(backend.Url);
        using var connection = await RawConnection.OpenAsync(_bus.Port, cancellationToken);

        await connection.WriteAsync($"POST /relay HTTP/1.1\r\nHost: bus\r\n{framing}begin", cancellationToken);
        var answer = await connection.ReadUntilAsync("no!", cancellationToken);

        Assert.That(answer, Does.StartWith("HTTP/1.1 413 ").And.Contain("Connection: close"));
        connection.Dispose();
        await closed.Task.WaitAsync(cancellationToken);
    }

    [Test]
    public async Task Answer_of_an_outside_that_stops_reading_is_not_lost(CancellationToken cancellationToken)
    {
        await using var backend = new RawBackend(async (connection, _, stopping) =>
        {
            await connection.ReadUntilAsync("\r\n\r\n", stopping);
            await connection.WriteAsync("HTTP/1.1 403 No\r\nConnection: close\r\nContent-Length: 3\r\n\r\nno!", stopping);
        });
        await StartAsync(backend.Url);
        var body = new string('x', 3_000_000);

        using var connection = await RawConnection.OpenAsync(_bus.Port, cancellationToken);
        await connection.WriteAsync($"POST /relay HTTP/1.1\r\nHost: bus\r\nContent-Length: {body.Length}\r\n\r\n", cancellationToken);
        var sending = connection.WriteAsync(body, cancellationToken);
        var answer = await connection.ReadUntilAsync("no!", cancellationToken);
        await sending;

        Assert.That(answer, Does.StartWith("HTTP/1.1 403 ").And.EndWith("no!"));
    }

    [Test]
    public async Task Request_and_answer_may_flow_at_once(CancellationToken cancellationToken)
    {
        await using var backend = new RawBackend(async (connection, _, stopping) =>
        {
            await connection.ReadUntilAsync("one\r\n", stopping);
            await connection.WriteAsync("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nONE\r\n", stopping);
            await connection.ReadUntilAsync("0\r\n\r\n", stopping);
            await connection.WriteAsync("3\r\nTWO\r\n0\r\n\r\n", stopping);
        });
        await StartAsync(backend.Url);
        using var connection = await RawConnection.OpenAsync(_bus.Port, cancellationToken);

        await connection.WriteAsync("POST /relay HTTP/1.1\r\nHost: bus\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n", cancellationToken);
        Assert.That(await connection.ReadUntilAsync("ONE", cancellationToken), Does.StartWith("HTTP/1.1 200 "));
        await connection.WriteAsync("3\r\ntwo\r\n0\r\n\r\n", cancellationToken);

        Assert.That(await connection.ReadUntilAsync("0\r\n\r\n", cancellationToken), Does.Contain("TWO"));
    }

    [TestCase("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", "Content-Length: 1000")]
    [TestCase("GET", "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\nContent-Length: 1000\r\n\r\n", "ETag: \"a\"")]
    [TestCase("GET", "HTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n", "X-A: 1")]
    [TestCase("GET", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n", "X-A: 1")]
    public async Task Answers_without_a_body_leave_the_connections_usable(string method, string answer, string header, CancellationToken cancellationToken)
    {
        await using var backend = RawBackend.Answering(answer);
        await StartAsync(backend.Url);
        using var connection = await RawConnection.OpenAsync(_bus.Port, cancellationToken);
        for (var request = 0; request < 3; request++)
        {
            await connection.WriteAsync($"{method} /relay HTTP/1.1\r\nHost: bus\r\n\r\n", cancellationToken);

            var relayed = await connection.ReadUntilAsync("\r\n\r\n", cancellationToken);

            Assert.That(relayed, Does.StartWith("HTTP/1.1 ").And.EndWith("\r\n\r\n").And.Contain($"\r\n{header}\r\n").And.Not.Contain("Transfer-Encoding"));
        }

        Assert.That(backend.Connections, Is.EqualTo(1));
    }

    [TestCase("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfive!")]
    [TestCase("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfive!\r\n")]
    [TestCase("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfive!\r\nnonsense\r\n")]
    [TestCase("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfive!!\r\n0\r\n\r\n")]
    [TestCase("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfive!\r\n0\nX: y\r\n\r\n")]
    public async Task Answer_that_breaks_is_broken_off_for_the_caller(string broken, CancellationToken cancellationToken)
    {
        await using var backend = new RawBackend(async (connection, _, stopping) =>
        {
            await connection.ReadUntilAsync("\r\n\r\n", stopping);
            await connection.WriteAsync(broken, stopping);
        });
        await StartAsync(backend.Url);

        var answer = await AskAsync("GET /relay HTTP/1.1\r\nHost: bus\r\n\r\n", cancellationToken);

        Assert.That(answer, Does.Not.EndWith("0\r\n\r\n"));
        Assert.That(answer.Contains("Content-Length: 10") && answer.EndsWith("five!!!!!!", StringComparison.Ordinal), Is.False);
        Assert.That(_bus.Status[0].Failures, Is.EqualTo(1));
    }

    [TestCase("nonsense\r\n\r\n")]
    [TestCase("HTTP/1.1 2xx OK\r\n\r\n")]
    [TestCase("HTTP/2.0 200 OK\r\n\r\n")]
    [TestCase("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n")]
    [TestCase("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxy")]
    [TestCase("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n")]
    [TestCase("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n")]
    [TestCase("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")]
    [TestCase("HTTP/1.1 200 OK\r\nX A: 1\r\n\r\n")]
    [TestCase("HTTP/1.1 200 OK\r\nX-A: 1\r\n folded\r\n\r\n")]
    [TestCase("HTTP/1.1 200 OK\r\nX-A: 1\rX-B: 2\r\n\r\n")]
    [TestCase("HTTP/1.1 200 OK\r\nX-A: 1\nX-B: 2\r\n\r\n")]
    [TestCase("HTTP/1.1 200 OK\r\nX-A: \0\r\n\r\n")]
    [Property("Case", "HDR-06")]
    public async Task Answer_that_is_no_answer_is_a_bad_gateway(string nonsense, CancellationToken cancellationToken)
    {
        await using var backend = RawBackend.Answering(nonsense);
        await StartAsync(backend.Url);

        var answer = await AskAsync("GET /relay HTTP/1.1\r\nHost: bus\r\nConnection: close\r\n\r\n", cancellationToken);

        Assert.That(answer, Does.StartWith("HTTP/1.1 502 ").And.Contain("\"ESB-HTTP-ANSWER\"").And.Not.Contain("X-B"));
    }

    [Test]
    public async Task Answer_with_an_endless_head_is_a_bad_gateway(CancellationToken cancellationToken)
    {
        await using var backend = RawBackend.Answering("HTTP/1.1 200 OK\r\n" + string.Concat(Enumerable.Repeat($"X-A: {new string('x', 1000)}\r\n", 100)) + "\r\n");
        await StartAsync(backend.Url);

        var answer = await AskAsync("GET /relay HTTP/1.1\r\nHost: bus\r\nConnection: close\r\n\r\n", cancellationToken);

        Assert.That(answer, Does.StartWith("HTTP/1.1 502 ").And.Contain("\"ESB-HTTP-ANSWER\""));
    }

    [Test]
    public async Task Length_beside_chunks_is_dropped_and_the_connection_not_used_again(CancellationToken cancellationToken)
    {
        await using var backend = RawBackend.Answering("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n");
        await StartAsync(backend.Url);

        for (var request = 1; request <= 2; request++)
        {
            var answer = await AskAsync("GET /relay HTTP/1.1\r\nHost: bus\r\nConnection: close\r\n\r\n", cancellationToken);

            Assert.That(answer, Does.Contain("\r\n2\r\nok\r\n0\r\n\r\n").And.Not.Contain("Content-Length"));
            Assert.That(backend.Connections, Is.EqualTo(request));
        }
    }

    [Test]
    public async Task Bytes_behind_an_answer_never_become_the_next_one(CancellationToken cancellationToken)
    {
        await using var backend = RawBackend.Answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nother");
        await StartAsync(backend.Url);

        for (var request = 1; request <= 3; request++)
        {
            var answer = await AskAsync("GET /relay HTTP/1.1\r\nHost: bus\r\nConnection: close\r\n\r\n", cancellationToken);

            Assert.That(answer, Does.EndWith("\r\n\r\nok"));
        }
    }

    [Test]
    public async Task Answer_that_ends_with_its_connection_is_passed_whole(CancellationToken cancellationToken)
    {
        await using var backend = new RawBackend(async (connection, _, stopping) =>
        {
            await connection.ReadUntilAsync("\r\n\r\n", stopping);
            await connection.WriteAsync("HTTP/1.0 200 OK\r\n\r\nold", stopping);
        });
        await StartAsync(backend.Url);

        var answer = await AskAsync("GET /relay HTTP/1.1\r\nHost: bus\r\nConnection: close\r\n\r\n", cancellationToken);

        Assert.That(answer, Does.EndWith("\r\n3\r\nold\r\n0\r\n\r\n"));
    }

    [Test]
    public async Task Connection_that_the_outside_has_closed_meanwhile_is_replaced(CancellationToken cancellationToken)
    {
        var closed = new SemaphoreSlim(0);
        await using var backend = new RawBackend(async (connection, _, stopping) =>
        {
            await connection.ReadUntilAsync("body", stopping);
            await connection.WriteAsync("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", stopping);
            connection.Dispose(); // without having said so
            closed.Release();
        });
        await StartAsync(backend.Url);

        for (var request = 1; request <= 5; request++)
        {
            var answer = await AskAsync("POST /relay HTTP/1.1\r\nHost: bus\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbody", cancellationToken);
            await closed.WaitAsync(cancellationToken);

            Assert.That(answer, Does.StartWith("HTTP/1.1 200 ").And.EndWith("\r\n\r\nok"));
        }
    }

    [TestCase("GET", 200, 2), TestCase("POST", 502, 1)]
    public async Task Only_what_does_no_harm_twice_is_sent_again_when_a_used_connection_breaks(string method, int expected, int repeated, CancellationToken cancellationToken)
    {
        var seen = 0;
        await using var backend = new RawBackend(async (connection, number, stopping) =>
        {
            while ((await connection.ReadUntilAsync("\r\n\r\n", stopping)).Length > 0)
            {
                if (Interlocked.Increment(ref seen) == 2) return; // it got the request, and hangs up
                await connection.WriteAsync("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", stopping);
            }
        });
        await StartAsync(backend.Url);
        var request = $"{method} /relay HTTP/1.1\r\nHost: bus\r\nConnection: close\r\n{(method == "POST" ? "Content-Length: 0\r\n" : "")}\r\n";
        await AskAsync(request, cancellationToken);

        var answer = await AskAsync(request, cancellationToken);

        Assert.That(answer, Does.StartWith($"HTTP/1.1 {expected} "));
        Assert.That(seen, Is.EqualTo(1 + repeated));
    }

    [Test]
    public async Task Outside_sees_the_abort_when_the_caller_hangs_up_within_its_body(CancellationToken cancellationToken)
    {
        var begun = new TaskCompletionSource();
        var rest = new TaskCompletionSource<string>();
        await using var backend = new RawBackend(async (connection, _, stopping) =>
        {
            await connection.ReadUntilAsync("five!", stopping);
            begun.SetResult();
            rest.SetResult(await connection.ReadToEndAsync(stopping));
        });
        await StartAsync(backend.Url);
        using var connection = await RawConnection.OpenAsync(_bus.Port, cancellationToken);
        await connection.WriteAsync("POST /relay HTTP/1.1\r\nHost: bus\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfive!\r\n", cancellationToken);
        await begun.Task.WaitAsync(cancellationToken);

        connection.Reset();

        Assert.That(await rest.Task.WaitAsync(cancellationToken), Does.Not.Contain("0\r\n\r\n"), "a request that is not complete must not look so");
        await Eventually.HoldsAsync(() => _bus.Status[0].InFlight == 0, "the end of the relay", cancellationToken);
    }

    [Test]
    public async Task Chunks_of_one_request_cannot_smuggle_in_another(CancellationToken cancellationToken)
    {
        var requests = new StringBuilder();
        await using var backend = new RawBackend(async (connection, _, stopping) =>
        {
            while (await connection.ReadAsync(stopping) is { Length: > 0 } piece)
            {
                requests.Append(piece);
                if (piece.Contains("0\r\n\r\n", StringComparison.Ordinal)) await connection.WriteAsync("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", stopping);
            }
        });
        await StartAsync(backend.Url);

        await AskAsync("POST /relay HTTP/1.1\r\nHost: bus\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n1B;a=b\r\nGET /admin HTTP/1.1\r\nA: b\r\n\r\n0\r\n\r\n", cancellationToken);

        Assert.That(requests.ToString(), Does.Contain("\r\n1b\r\nGET /admin HTTP/1.1\r\nA: b\r\n\r\n0\r\n\r\n").IgnoreCase, "framed as a body");
    }

    [TestCase("1;a\nb\r\nx\r\n0\r\n\r\n"), TestCase("1\nx\r\n0\r\n\r\n"), TestCase("1\r\nxy\r\n0\r\n\r\n"), TestCase("FFFFFFFFFFFFFFFFF\r\nx\r\n0\r\n\r\n"), TestCase("-1\r\nx\r\n0\r\n\r\n"), Property("Case", "HTP-07")]
    public async Task Broken_chunk_is_refused_and_what_follows_it_reaches_nobody(string chunks, CancellationToken cancellationToken)
    {
        var requests = new StringBuilder();
        await using var backend = new RawBackend(async (connection, _, stopping) =>
        {
            while (await connection.ReadAsync(stopping) is { Length: > 0 } piece) requests.Append(piece);
        });
        await StartAsync(backend.Url);

        var answer = await AskAsync($"POST /relay HTTP/1.1\r\nHost: bus\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}GET /relay?smuggled HTTP/1.1\r\nHost: bus\r\n\r\n", cancellationToken);

        Assert.That(answer, Does.StartWith("HTTP/1.1 400 "));
        Assert.That(answer.Split("HTTP/1.1 "), Has.Length.EqualTo(2), "one answer, then the end");
        Assert.That(requests.ToString(), Does.Not.Contain("smuggled").And.Not.Contain("\r\n0\r\n\r\n"));
    }

    private Task<string> AskAsync(string request, CancellationToken cancellationToken) => RawConnection.AskAsync(_bus.Port, request, cancellationToken);

    private Task StartAsync(string url) => _bus.StartAsync(
        $$"""
         "relay": { "type": "http-inbound", "path": "/relay", "methods": ["GET", "HEAD", "POST", "PUT"], "relay": "backend" },
         "backend": { "type": "http-outbound", "url": "{{url}}", "poolSize": 10 }
         """);
}
