using Esb.Tests.Fakes;

namespace Esb.Tests.Endpoints.Http.Relaying;

/// <summary>Which connections a relay uses again.</summary>
[CancelAfter(30_000)]
public sealed class RelayConnectionTests : RelayWire
{
    [Test]
    public async Task Length_beside_chunks_is_dropped_and_the_connection_not_used_again(CancellationToken cancellationToken)
    {
        await using var backend = RawBackend.Answering(
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
        );
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
        await using var backend = RawBackend.Answering(
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nother"
        );
        await StartAsync(backend.Url);

        for (var request = 1; request <= 3; request++)
        {
            var answer = await AskAsync("GET /relay HTTP/1.1\r\nHost: bus\r\nConnection: close\r\n\r\n", cancellationToken);

            Assert.That(answer, Does.EndWith("\r\n\r\nok"));
        }
    }

    [Test]
    public async Task Connection_that_the_outside_has_closed_meanwhile_is_replaced(CancellationToken cancellationToken)
    {
        var closed = new SemaphoreSlim(0);
        await using var backend = new RawBackend(
            async (connection, _, stopping) =>
            {
                await connection.ReadUntilAsync("body", stopping);
                await connection.WriteAsync("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", stopping);
                connection.Dispose(); // without having said so
                closed.Release();
            }
        );
        await StartAsync(backend.Url);

        for (var request = 1; request <= 5; request++)
        {
            var answer = await AskAsync(
                "POST /relay HTTP/1.1\r\nHost: bus\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbody",
                cancellationToken
            );
            await closed.WaitAsync(cancellationToken);

            Assert.That(answer, Does.StartWith("HTTP/1.1 200 ").And.EndWith("\r\n\r\nok"));
        }
    }

    [TestCase("GET", 200, 2), TestCase("POST", 502, 1)]
    public async Task Only_what_does_no_harm_twice_is_sent_again_when_a_used_connection_breaks(
        string method,
        int expected,
        int repeated,
        CancellationToken cancellationToken
    )
    {
        var seen = 0;
        await using var backend = new RawBackend(
            async (connection, number, stopping) =>
            {
                while ((await connection.ReadUntilAsync("\r\n\r\n", stopping)).Length > 0)
                {
                    if (Interlocked.Increment(ref seen) == 2)
                        return; // it got the request, and hangs up
                    await connection.WriteAsync("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", stopping);
                }
            }
        );
        await StartAsync(backend.Url);
        var request =
            $"{method} /relay HTTP/1.1\r\nHost: bus\r\nConnection: close\r\n{(method == "POST" ? "Content-Length: 0\r\n" : "")}\r\n";
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
        await using var backend = new RawBackend(
            async (connection, _, stopping) =>
            {
                await connection.ReadUntilAsync("five!", stopping);
                begun.SetResult();
                rest.SetResult(await connection.ReadToEndAsync(stopping));
            }
        );
        await StartAsync(backend.Url);
        using var connection = await RawConnection.OpenAsync(Bus.Port, cancellationToken);
        await connection.WriteAsync(
            "POST /relay HTTP/1.1\r\nHost: bus\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfive!\r\n",
            cancellationToken
        );
        await begun.Task.WaitAsync(cancellationToken);

        connection.Reset();

        Assert.That(
            await rest.Task.WaitAsync(cancellationToken),
            Does.Not.Contain("0\r\n\r\n"),
            "a request that is not complete must not look so"
        );
        await Eventually.HoldsAsync(() => Bus.Status[0].InFlight == 0, "the end of the relay", cancellationToken);
    }

    [Test]
    public async Task Outside_that_takes_no_connection_in_time_is_a_gateway_timeout(CancellationToken cancellationToken)
    {
        await using var backend = new RawBackend((connection, _, stopping) => connection.ReadToEndAsync(stopping)); // says nothing of TLS
        await StartAsync(backend.Url.Replace("http:", "https:"), """, "timeout": "500ms", "connectTimeout": "1m" """);

        var answer = await AskAsync("GET /relay HTTP/1.1\r\nHost: bus\r\nConnection: close\r\n\r\n", cancellationToken);

        Assert.That(answer, Does.StartWith("HTTP/1.1 504 ").And.Contain("ESB-HTTP-UNREACHABLE"));
    }
}
