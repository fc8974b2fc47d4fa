using System.Net;
using System.Security.Cryptography;
using System.Text;

namespace Esb.Tests.Endpoints.Http;

/// <summary>Bodies that go through a relay more slowly than they come, or not at all.</summary>
[CancelAfter(60_000)]
public sealed class RelayUploadTests : RelayWire
{
    [Test]
    public async Task Outside_that_takes_a_body_slowly_but_steadily_is_not_silent(CancellationToken cancellationToken)
    {
        var body = RandomNumberGenerator.GetBytes(40_000_000); // more than all buffers on the way hold
        var received = new MemoryStream(body.Length);
        await using var backend = new RawBackend(async (connection, _, stopping) =>
        {
            connection.Narrow();
            var beginning = await connection.ReadUntilAsync("\r\n\r\n", stopping);
            received.Write(Encoding.Latin1.GetBytes(beginning[(beginning.IndexOf("\r\n\r\n", StringComparison.Ordinal) + 4)..]));
            for (var pause = 0; received.Length < body.Length;)
            {
                if (received.Length >= pause)
                {
                    await Task.Delay(100, stopping);
                    pause += 2_000_000;
                }

                if (await connection.ReadAsync(stopping) is not { Length: > 0 } piece) return; // cut off
                received.Write(Encoding.Latin1.GetBytes(piece));
            }

            await connection.WriteAsync("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", stopping);
        });
        await StartAsync(backend.Url, """, "timeout": "1s" """);

        using var answer = await Bus.Client.PostAsync("/relay", new ByteArrayContent(body), cancellationToken);

        Assert.That(answer.StatusCode, Is.EqualTo(HttpStatusCode.OK), await answer.Content.ReadAsStringAsync(cancellationToken));
        Assert.That(received.ToArray().SequenceEqual(body), Is.True, "byte for byte");
    }
}
