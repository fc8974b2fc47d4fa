using System.Net.Sockets;
using System.Text;
using Esb.Core.Errors;
using Esb.Endpoints.Http.Outside;
using Esb.Endpoints.Http.Sending.Direct;

namespace Esb.Tests.Fuzzing;

/// <summary>An answer of an external system, in whatever pieces it arrives, is read or refused; never more than was sent, and nothing
/// waits.</summary>
public sealed class HttpAnswerFuzzTests : Fuzzer
{
    private const int BufferBytes = 8 * 1024;
    private const int MostBody = 1024 * 1024;

    private static readonly byte[][] Valid =
    [
        .. new[]
        {
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello",
            "HTTP/1.0 200 OK\r\nConnection: keep-alive, x\r\nKeep-Alive: timeout=5\r\n\r\nto the end",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;name=value\r\nhello\r\n1F\r\n, this is a chunk of 31 bytes. \r\n0\r\n"
                + "Checksum: 17\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 204 No Content\r\nSet-Cookie: a=b\r\nSet-Cookie: c=d\r\nVia: 1.1 proxy\r\n\r\n",
        }.Select(Encoding.ASCII.GetBytes),
    ];

    private static readonly string[] Pieces =
    [
        "\r\n",
        "\n",
        "\r",
        "\r\n\r\n",
        ":",
        " ",
        "HTTP/1.1 200 OK\r\n",
        "Content-Length: 5\r\n",
        "Content-Length: -1\r\n",
        "Content-Length: 99999999999999999999\r\n",
        "Transfer-Encoding: chunked\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
        "Connection: close\r\n",
        "0\r\n\r\n",
        "FFFFFFFFFFFFFFFF\r\n",
        "7FFFFFFFFFFFFFFF\r\n",
        "-1\r\n",
        ";",
    ];

    private int _read;
    private int _refused;

    protected override void Round(Random random)
    {
        var answer = Broken.Bytes(random, Valid[random.Next(Valid.Length)], Pieces);
        using var socket = new Socket(SocketType.Stream, ProtocolType.Tcp);
        using var connection = new OutsideConnection(socket, new PiecesStream(answer, random), TimeProvider.System);
        try
        {
            Assert.That(
                ReadAsync(connection).WaitAsync(TimeSpan.FromSeconds(30)).GetAwaiter().GetResult(),
                Is.LessThanOrEqualTo(answer.Length)
            );
            _read++;
        }
        catch (OutsideException)
        {
            _refused++;
        }
        catch (EsbException ex) when (ex.Code == "ESB-BODY-SIZE")
        {
            _refused++;
        }
    }

    protected override void AssertReach() => Assert.That((_read > 0, _refused > 0), Is.EqualTo((true, true)));

    private static async Task<int> ReadAsync(OutsideConnection connection)
    {
        await connection.BeginAsync(BufferBytes);
        await DirectAnswer.ReadHeadAsync(connection);
        Assert.That(connection.Head.Status, Is.InRange(200, 999));
        return (await DirectAnswer.ReadBodyAsync(connection, "GET", MostBody)).Length;
    }

    // What a socket gives: pieces of any size.
    private sealed class PiecesStream(byte[] bytes, Random random) : MemoryStream(bytes)
    {
        public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
            base.ReadAsync(buffer[..Math.Min(buffer.Length, random.Next(1, 40))], cancellationToken);
    }
}
