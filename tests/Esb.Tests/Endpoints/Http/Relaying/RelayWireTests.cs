namespace Esb.Tests.Endpoints.Http.Relaying;

/// <summary>How a relay passes requests and answers on, byte for byte.</summary>
[CancelAfter(30_000)]
public sealed class RelayWireTests : RelayWire
{
    [Test]
    public async Task Trailers_of_a_request_reach_the_outside_but_none_that_matter_before_the_body(CancellationToken cancellationToken)
    {
        var received = new TaskCompletionSource<string>();
        await using var backend = new RawBackend(
            async (connection, _, stopping) =>
            {
                received.SetResult(await connection.ReadUntilAsync("42\r\n\r\n", stopping));
                await connection.WriteAsync("HTTP/1.1 204 No Content\r\n\r\n", stopping);
            }
        );
        Bus.Variables["SECRET"] = "of-the-target-itself";
        await StartAsync(backend.Url, """, "authentication": { "type": "api-key", "header": "X-Api-Key", "key": "${env:SECRET}" } """);
        const string Request =
            "POST /relay HTTP/1.1\r\nHost: bus\r\nConnection: close\r\nTrailer: X-Sum\r\nTransfer-Encoding: "
            + "chunked\r\n\r\n4\r\nwiki\r\n0\r\n";

        using var connection = await RawConnection.OpenAsync(Bus.Port, cancellationToken);
        await connection.WriteAsync(Request, cancellationToken);
        await connection.WriteAsync(
            "X-Sum: 42\r\nAuthorization: stolen\r\nEsb-Key: a\r\nX-Forwarded-For: 1.2.3.4\r\nX-Api-Key: mine\r\nX-Forwarded-User: "
                + "admin\r\nX-Real-IP: 1.2.3.4\r\n\r\n",
            cancellationToken
        );
        var answer = await connection.ReadToEndAsync(cancellationToken);

        Assert.That(answer, Does.StartWith("HTTP/1.1 204 "));
        var head = await received.Task;
        Assert.That(
            head,
            Does.Contain("\r\nTrailer: X-Sum\r\n")
                .And.Contain("\r\nTransfer-Encoding: chunked\r\n")
                .And.Contain("\r\n\r\n4\r\nwiki\r\n0\r\nX-Sum: 42\r\n\r\n")
        );
    }

    [Test]
    public async Task Trailers_of_an_answer_reach_a_caller_that_takes_them(CancellationToken cancellationToken)
    {
        await using var backend = RawBackend.Answering(
            "HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n4;ext=1\r\nwiki\r\n3\r\ned.\r\n0\r\nX-Sum: "
                + "42\r\nSet-Cookie: no\r\nEsb-Key: no\r\n\r\n"
        );
        await StartAsync(backend.Url);

        var taking = await AskAsync("GET /relay HTTP/1.1\r\nHost: bus\r\nTE: trailers\r\nConnection: TE, close\r\n\r\n", cancellationToken);
        var other = await AskAsync("GET /relay HTTP/1.1\r\nHost: bus\r\nConnection: close\r\n\r\n", cancellationToken);

        Assert.That(
            taking,
            Does.Contain("\r\nTrailer: X-Sum\r\n")
                .And.EndWith("0\r\nX-Sum: 42\r\n\r\n")
                .And.Contain("wiki")
                .And.Contain("ed.")
                .And.Not.Contain("Cookie")
                .And.Not.Contain("Esb-Key")
        );
        Assert.That(other, Does.EndWith("0\r\n\r\n").And.Contain("wiki").And.Not.Contain("X-Sum"));
    }

    [Test]
    public async Task Outside_that_refuses_an_upload_beforehand_never_gets_it_and_the_caller_need_not_send_it(
        CancellationToken cancellationToken
    )
    {
        var rest = new TaskCompletionSource<string>();
        await using var backend = new RawBackend(
            async (connection, _, stopping) =>
            {
                Assert.That(await connection.ReadUntilAsync("\r\n\r\n", stopping), Does.Contain("\r\nExpect: 100-continue\r\n"));
                await connection.WriteAsync("HTTP/1.1 417 No\r\nContent-Length: 3\r\n\r\nno!", stopping);
                rest.SetResult(await connection.ReadToEndAsync(stopping));
            }
        );
        await StartAsync(backend.Url);

        var answer = await AskAsync(
            "POST /relay HTTP/1.1\r\nHost: bus\r\nExpect: 100-continue\r\nContent-Length: 1000000\r\n\r\n",
            cancellationToken
        );

        Assert.That(
            answer,
            Does.StartWith("HTTP/1.1 417 ").And.Contain("Connection: close").And.EndWith("\r\n\r\nno!").And.Not.Contain("100 Continue")
        );
        Assert.That(await rest.Task.WaitAsync(cancellationToken), Is.Empty, "the outside sees the end and no body");
    }

    [Test]
    public async Task Caller_is_told_to_go_on_once_the_outside_says_so(CancellationToken cancellationToken)
    {
        var asked = new TaskCompletionSource();
        var go = new TaskCompletionSource();
        await using var backend = new RawBackend(
            async (connection, _, stopping) =>
            {
                await connection.ReadUntilAsync("\r\n\r\n", stopping);
                asked.SetResult();
                await go.Task.WaitAsync(stopping);
                await connection.WriteAsync("HTTP/1.1 100 Continue\r\n\r\n", stopping);
                await connection.ReadUntilAsync("body", stopping);
                await connection.WriteAsync("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", stopping);
            }
        );
        await StartAsync(backend.Url);
        using var connection = await RawConnection.OpenAsync(Bus.Port, cancellationToken);

        await connection.WriteAsync(
            "POST /relay HTTP/1.1\r\nHost: bus\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n",
            cancellationToken
        );
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
        using var connection = await RawConnection.OpenAsync(Bus.Port, cancellationToken);

        await connection.WriteAsync(
            "POST /relay HTTP/1.1\r\nHost: bus\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n",
            cancellationToken
        );
        await connection.ReadUntilAsync("100 Continue\r\n\r\n", cancellationToken);
        await connection.WriteAsync("body", cancellationToken);

        Assert.That(await connection.ReadUntilAsync("ok", cancellationToken), Does.StartWith("HTTP/1.1 200 "));
    }

    [TestCase("Content-Length: 100000000\r\n\r\n"), TestCase("Transfer-Encoding: chunked\r\n\r\n5F5E100\r\n")]
    public async Task Early_answer_reaches_a_caller_that_is_still_sending(string framing, CancellationToken cancellationToken)
    {
        var closed = new TaskCompletionSource();
        await using var backend = new RawBackend(
            async (connection, _, stopping) =>
            {
                await connection.ReadUntilAsync("\r\n\r\n", stopping);
                await connection.WriteAsync("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nno!", stopping);
                await connection.ReadToEndAsync(stopping);
                closed.SetResult();
            }
        );
        await StartAsync(backend.Url);
        using var connection = await RawConnection.OpenAsync(Bus.Port, cancellationToken);

        await connection.WriteAsync($"POST /relay HTTP/1.1\r\nHost: bus\r\n{framing}begin", cancellationToken);
        var answer = await connection.ReadUntilAsync("no!", cancellationToken);

        Assert.That(answer, Does.StartWith("HTTP/1.1 413 ").And.Contain("Connection: close"));
        connection.Dispose();
        await closed.Task.WaitAsync(cancellationToken);
    }

    [Test]
    public async Task Answer_of_an_outside_that_stops_reading_is_not_lost(CancellationToken cancellationToken)
    {
        await using var backend = new RawBackend(
            async (connection, _, stopping) =>
            {
                await connection.ReadUntilAsync("\r\n\r\n", stopping);
                await connection.WriteAsync("HTTP/1.1 403 No\r\nConnection: close\r\nContent-Length: 3\r\n\r\nno!", stopping);
            }
        );
        await StartAsync(backend.Url);
        var body = new string('x', 3_000_000);

        using var connection = await RawConnection.OpenAsync(Bus.Port, cancellationToken);
        await connection.WriteAsync($"POST /relay HTTP/1.1\r\nHost: bus\r\nContent-Length: {body.Length}\r\n\r\n", cancellationToken);
        var sending = connection.WriteAsync(body, cancellationToken);
        var answer = await connection.ReadUntilAsync("no!", cancellationToken);
        await sending;

        Assert.That(answer, Does.StartWith("HTTP/1.1 403 ").And.EndWith("no!"));
    }

    [Test]
    public async Task Request_and_answer_may_flow_at_once(CancellationToken cancellationToken)
    {
        await using var backend = new RawBackend(
            async (connection, _, stopping) =>
            {
                await connection.ReadUntilAsync("one\r\n", stopping);
                await connection.WriteAsync("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nONE\r\n", stopping);
                await connection.ReadUntilAsync("0\r\n\r\n", stopping);
                await connection.WriteAsync("3\r\nTWO\r\n0\r\n\r\n", stopping);
            }
        );
        await StartAsync(backend.Url);
        using var connection = await RawConnection.OpenAsync(Bus.Port, cancellationToken);

        await connection.WriteAsync(
            "POST /relay HTTP/1.1\r\nHost: bus\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n",
            cancellationToken
        );
        Assert.That(await connection.ReadUntilAsync("ONE", cancellationToken), Does.StartWith("HTTP/1.1 200 "));
        await connection.WriteAsync("3\r\ntwo\r\n0\r\n\r\n", cancellationToken);

        Assert.That(await connection.ReadUntilAsync("0\r\n\r\n", cancellationToken), Does.Contain("TWO"));
    }
}
