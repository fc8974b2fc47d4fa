namespace Esb.Tests.Endpoints.Http.Relaying;

/// <summary>What a relay makes of what the outside answers.</summary>
[CancelAfter(30_000)]
public sealed class RelayAnswerTests : RelayWire
{
    [TestCase("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", "Content-Length: 1000")]
    [TestCase("GET", "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\nContent-Length: 1000\r\n\r\n", "ETag: \"a\"")]
    [TestCase("GET", "HTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n", "X-A: 1")]
    [TestCase("GET", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n", "X-A: 1")]
    public async Task Answers_without_a_body_leave_the_connections_usable(
        string method,
        string answer,
        string header,
        CancellationToken cancellationToken
    )
    {
        await using var backend = RawBackend.Answering(answer);
        await StartAsync(backend.Url);
        using var connection = await RawConnection.OpenAsync(Bus.Port, cancellationToken);
        for (var request = 0; request < 3; request++)
        {
            await connection.WriteAsync($"{method} /relay HTTP/1.1\r\nHost: bus\r\n\r\n", cancellationToken);

            var relayed = await connection.ReadUntilAsync("\r\n\r\n", cancellationToken);

            Assert.That(
                relayed,
                Does.StartWith("HTTP/1.1 ").And.EndWith("\r\n\r\n").And.Contain($"\r\n{header}\r\n").And.Not.Contain("Transfer-Encoding")
            );
        }

        Assert.That(backend.Connections, Is.EqualTo(1));
    }

    [TestCase("HTTP/1.1 205 Reset Content\r\nContent-Length: 34\r\n\r\n", "HTTP/1.1 200 OK\r\nX-Forged: yes\r\n\r\n")]
    [TestCase("HTTP/1.1 205 Reset Content\r\nTransfer-Encoding: chunked\r\n\r\n", "0\r\n\r\n")]
    public async Task What_comes_behind_a_reset_is_no_answer_to_the_next_request(
        string head,
        string rest,
        CancellationToken cancellationToken
    )
    {
        await using var backend = new RawBackend(
            async (connection, number, stopping) =>
            {
                await connection.ReadUntilAsync("\r\n\r\n", stopping);
                await connection.WriteAsync(number == 1 ? head : "HTTP/1.1 204 No Content\r\n\r\n", stopping);
                await connection.ReadUntilAsync("\r\n\r\n", stopping); // of the next request, or the end
                if (number == 1)
                    await connection.WriteAsync(rest, stopping);
            }
        );
        await StartAsync(backend.Url);
        using var connection = await RawConnection.OpenAsync(Bus.Port, cancellationToken);

        await connection.WriteAsync("GET /relay HTTP/1.1\r\nHost: bus\r\n\r\n", cancellationToken);
        var reset = await connection.ReadUntilAsync("\r\n\r\n", cancellationToken);
        await connection.WriteAsync("GET /relay HTTP/1.1\r\nHost: bus\r\n\r\n", cancellationToken);
        var next = await connection.ReadUntilAsync("\r\n\r\n", cancellationToken);

        Assert.That(reset, Does.StartWith("HTTP/1.1 205 "));
        Assert.That((next.Split(' ')[1], backend.Connections), Is.EqualTo(("204", 2)));
    }

    [Test]
    public async Task Head_of_an_answer_does_not_wait_for_its_body(
        [Values("Content-Length: 5", "Transfer-Encoding: chunked", "X-A: b")] string framing,
        [Values("", "TE: trailers\r\nConnection: TE\r\n")] string trailers,
        CancellationToken cancellationToken
    )
    {
        var hasHead = new TaskCompletionSource();
        await using var backend = new RawBackend(
            async (connection, _, stopping) =>
            {
                await connection.ReadUntilAsync("\r\n\r\n", stopping);
                await connection.WriteAsync($"HTTP/1.1 200 OK\r\n{framing}\r\nContent-Type: text/event-stream\r\n\r\n", stopping);
                await hasHead.Task.WaitAsync(stopping);
                await connection.WriteAsync(
                    framing.EndsWith("chunked", StringComparison.Ordinal) ? "5\r\nevent\r\n0\r\n\r\n" : "event",
                    stopping
                );
            }
        );
        await StartAsync(backend.Url);
        using var connection = await RawConnection.OpenAsync(Bus.Port, cancellationToken);

        await connection.WriteAsync($"GET /relay HTTP/1.1\r\nHost: bus\r\n{trailers}\r\n", cancellationToken);
        var head = await connection.ReadUntilAsync("\r\n\r\n", cancellationToken);
        hasHead.SetResult();
        var body = await connection.ReadUntilAsync("event", cancellationToken);

        Assert.That(head, Does.StartWith("HTTP/1.1 200 ").And.Contain("text/event-stream").And.EndWith("\r\n\r\n"));
        Assert.That(body, Does.Contain("event"));
    }

    [TestCase("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfive!")]
    [TestCase("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfive!\r\n")]
    [TestCase("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfive!\r\nnonsense\r\n")]
    [TestCase("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfive!!\r\n0\r\n\r\n")]
    [TestCase("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfive!\r\n0\nX: y\r\n\r\n")]
    public async Task Answer_that_breaks_is_broken_off_for_the_caller(string broken, CancellationToken cancellationToken)
    {
        await using var backend = new RawBackend(
            async (connection, _, stopping) =>
            {
                await connection.ReadUntilAsync("\r\n\r\n", stopping);
                await connection.WriteAsync(broken, stopping);
            }
        );
        await StartAsync(backend.Url);

        var answer = await AskAsync("GET /relay HTTP/1.1\r\nHost: bus\r\n\r\n", cancellationToken);

        Assert.That(answer, Does.Not.EndWith("0\r\n\r\n"));
        Assert.That(answer.Contains("Content-Length: 10") && answer.EndsWith("five!!!!!!", StringComparison.Ordinal), Is.False);
        Assert.That(Bus.Status[0].Failures, Is.EqualTo(1));
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
        await using var backend = RawBackend.Answering(
            "HTTP/1.1 200 OK\r\n" + string.Concat(Enumerable.Repeat($"X-A: {new string('x', 1000)}\r\n", 100)) + "\r\n"
        );
        await StartAsync(backend.Url);

        var answer = await AskAsync("GET /relay HTTP/1.1\r\nHost: bus\r\nConnection: close\r\n\r\n", cancellationToken);

        Assert.That(answer, Does.StartWith("HTTP/1.1 502 ").And.Contain("\"ESB-HTTP-ANSWER\""));
    }

    [Test]
    public async Task Answer_that_ends_with_its_connection_is_passed_whole(CancellationToken cancellationToken)
    {
        await using var backend = new RawBackend(
            async (connection, _, stopping) =>
            {
                await connection.ReadUntilAsync("\r\n\r\n", stopping);
                await connection.WriteAsync("HTTP/1.0 200 OK\r\n\r\nold", stopping);
            }
        );
        await StartAsync(backend.Url);

        var answer = await AskAsync("GET /relay HTTP/1.1\r\nHost: bus\r\nConnection: close\r\n\r\n", cancellationToken);

        Assert.That(answer, Does.EndWith("\r\n3\r\nold\r\n0\r\n\r\n"));
    }
}
