using System.Text;

namespace Esb.Tests.Endpoints.Http.Relaying;

/// <summary>Requests that try to hide others.</summary>
[CancelAfter(30_000)]
public sealed class RelaySmugglingTests : RelayWire
{
    [Test]
    public async Task Chunks_of_one_request_cannot_smuggle_in_another(CancellationToken cancellationToken)
    {
        var requests = new StringBuilder();
        await using var backend = new RawBackend(
            async (connection, _, stopping) =>
            {
                while (await connection.ReadAsync(stopping) is { Length: > 0 } piece)
                {
                    requests.Append(piece);
                    if (piece.Contains("0\r\n\r\n", StringComparison.Ordinal))
                        await connection.WriteAsync("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", stopping);
                }
            }
        );
        await StartAsync(backend.Url);

        await AskAsync(
            "POST /relay HTTP/1.1\r\nHost: bus\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n1B;a=b\r\nGET /admin "
                + "HTTP/1.1\r\nA: b\r\n\r\n0\r\n\r\n",
            cancellationToken
        );

        Assert.That(
            requests.ToString(),
            Does.Contain("\r\n1b\r\nGET /admin HTTP/1.1\r\nA: b\r\n\r\n0\r\n\r\n").IgnoreCase,
            "framed as a body"
        );
    }

    [TestCase("gzip, chunked"), TestCase("chunked, chunked"), TestCase("identity, chunked"), Property("Case", "HTP-06")]
    public async Task Body_in_another_transfer_coding_is_refused_and_passed_to_nobody(string coding, CancellationToken cancellationToken)
    {
        await using var backend = RawBackend.Answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        await StartAsync(backend.Url);

        var answer = await AskAsync(
            $"POST /relay HTTP/1.1\r\nHost: bus\r\nConnection: close\r\nTransfer-Encoding: {coding}\r\n\r\n1\r\nx\r\n0\r\n\r\n",
            cancellationToken
        );

        Assert.That(answer, Does.StartWith("HTTP/1.1 501 ").And.Contain("ESB-HTTP-ENCODING"));
        Assert.That(backend.Connections, Is.Zero);
    }

    [
        TestCase("1;a\nb\r\nx\r\n0\r\n\r\n"),
        TestCase("1\nx\r\n0\r\n\r\n"),
        TestCase("1\r\nxy\r\n0\r\n\r\n"),
        TestCase("FFFFFFFFFFFFFFFFF\r\nx\r\n0\r\n\r\n"),
        TestCase("-1\r\nx\r\n0\r\n\r\n"),
        Property("Case", "HTP-07")
    ]
    public async Task Broken_chunk_is_refused_and_what_follows_it_reaches_nobody(string chunks, CancellationToken cancellationToken)
    {
        var requests = new StringBuilder();
        await using var backend = new RawBackend(
            async (connection, _, stopping) =>
            {
                while (await connection.ReadAsync(stopping) is { Length: > 0 } piece)
                    requests.Append(piece);
            }
        );
        await StartAsync(backend.Url);

        var answer = await AskAsync(
            $"POST /relay HTTP/1.1\r\nHost: bus\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}GET /relay?smuggled HTTP/1.1\r\nHost: "
                + $"bus\r\n\r\n",
            cancellationToken
        );

        Assert.That(answer, Does.StartWith("HTTP/1.1 400 "));
        Assert.That(answer.Split("HTTP/1.1 "), Has.Length.EqualTo(2), "one answer, then the end");
        Assert.That(requests.ToString(), Does.Not.Contain("smuggled").And.Not.Contain("\r\n0\r\n\r\n"));
    }
}
