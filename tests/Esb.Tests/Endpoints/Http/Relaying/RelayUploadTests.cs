using System.Net;
using System.Security.Cryptography;
using System.Text;

namespace Esb.Tests.Endpoints.Http.Relaying;

/// <summary>Bodies that go through a relay more slowly than they come, or not at all.</summary>
[CancelAfter(60_000)]
public sealed class RelayUploadTests : RelayWire
{
    [Test]
    public async Task Outside_that_takes_a_body_slowly_but_steadily_is_not_silent(CancellationToken cancellationToken)
    {
        var body = RandomNumberGenerator.GetBytes(40_000_000); // more than all buffers on the way hold
        var received = new MemoryStream(body.Length);
        await using var backend = new RawBackend(
            async (connection, _, stopping) =>
            {
                connection.Narrow();
                var beginning = await connection.ReadUntilAsync("\r\n\r\n", stopping);
                received.Write(Encoding.Latin1.GetBytes(beginning[(beginning.IndexOf("\r\n\r\n", StringComparison.Ordinal) + 4)..]));
                for (var pause = 0; received.Length < body.Length; )
                {
                    if (received.Length >= pause)
                    {
                        await Task.Delay(100, stopping);
                        pause += 2_000_000;
                    }

                    if (await connection.ReadAsync(stopping) is not { Length: > 0 } piece)
                        return; // cut off
                    received.Write(Encoding.Latin1.GetBytes(piece));
                }

                await connection.WriteAsync("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", stopping);
            }
        );
        await StartAsync(backend.Url, """, "timeout": "1s" """);

        using var answer = await Bus.Client.PostAsync("/relay", new ByteArrayContent(body), cancellationToken);

        Assert.That(answer.StatusCode, Is.EqualTo(HttpStatusCode.OK), await answer.Content.ReadAsStringAsync(cancellationToken));
        Assert.That(received.ToArray().SequenceEqual(body), Is.True, "byte for byte");
    }

    [
        TestCase("HTTP/1.1 403 No\r\nConnection: close\r\nContent-Length: 3\r\n\r\nno!", "HTTP/1.1 403 ", "no!"),
        TestCase("", "HTTP/1.1 502 ", "}")
    ]
    public async Task Caller_that_sends_all_of_a_large_body_finds_the_answer_whole_of_an_outside_that_hung_up(
        string answer,
        string expected,
        string end,
        CancellationToken cancellationToken
    )
    {
        await using var backend = new RawBackend(
            async (connection, _, stopping) =>
            {
                await connection.ReadUntilAsync("\r\n\r\n", stopping);
                await connection.WriteAsync(answer, stopping);
            }
        );
        await StartAsync(backend.Url);

        await ExpectAsync(expected, end, cancellationToken);
    }

    [Test]
    public async Task Caller_that_sends_all_of_a_large_body_finds_the_answer_whole_when_the_time_is_up(CancellationToken cancellationToken)
    {
        await using var backend = new RawBackend((_, _, stopping) => Task.Delay(Timeout.Infinite, stopping));
        await StartAsync(backend.Url, """, "timeout": "500ms" """);

        await ExpectAsync("HTTP/1.1 504 ", "}", cancellationToken);
    }

    // A reset would end the sending, or have the answer dropped unread.
    private async Task ExpectAsync(string beginning, string end, CancellationToken cancellationToken)
    {
        var body = new string('x', 30_000_000);
        using var connection = await RawConnection.OpenAsync(Bus.Port, cancellationToken);

        await connection.WriteAsync($"POST /relay HTTP/1.1\r\nHost: bus\r\nContent-Length: {body.Length}\r\n\r\n", cancellationToken);
        await connection.WriteAsync(body, cancellationToken);
        var answer = await connection.ReadUntilAsync(end, cancellationToken);

        Assert.That(answer, Does.StartWith(beginning).And.EndWith(end));
    }
}
