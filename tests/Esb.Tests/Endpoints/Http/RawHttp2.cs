using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;
using System.Text;

namespace Esb.Tests.Endpoints.Http;

/// <summary>A connection of HTTP/2 on which a test writes frames that no client would (RFC 9113); its fields are literals without Huffman
/// coding (RFC 7541).</summary>
internal sealed class RawHttp2 : IDisposable
{
    /// <summary>What became of a stream whose connection was closed.</summary>
    public const string Closed = "closed";

    /// <summary>What became of a stream that was reset.</summary>
    public const string Reset = "reset";

    private const byte Data = 0x0,
        Headers = 0x1,
        ResetStream = 0x3,
        Settings = 0x4,
        GoAway = 0x7;
    private const byte EndStream = 0x1,
        EndHeaders = 0x4;

    private readonly TcpClient _client = new() { NoDelay = true };

    private NetworkStream Stream => _client.GetStream();

    public static async Task<RawHttp2> OpenAsync(int port, CancellationToken cancellationToken)
    {
        var connection = new RawHttp2();
        await connection._client.ConnectAsync(IPAddress.Loopback, port, cancellationToken);
        await connection.Stream.WriteAsync("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"u8.ToArray(), cancellationToken);
        await connection.WriteAsync(Settings, 0, 0, [], cancellationToken);
        return connection;
    }

    /// <summary>A field that leaves no trace in the table of the connection.</summary>
    public static byte[] Literal(string name, string value) => [0x00, .. Text(name), .. Text(value)];

    /// <summary>A field that is in the table from then on: as <see cref="Latest"/>, until the next one.</summary>
    public static byte[] Remembered(string name, string value) => [0x40, .. Text(name), .. Text(value)];

    /// <summary>The field that was remembered last.</summary>
    public static byte[] Latest() => [0x80 | 62];

    public Task SendHeadersAsync(int stream, IEnumerable<byte[]> fields, bool isEnd, CancellationToken cancellationToken) =>
        WriteAsync(
            Headers,
            isEnd ? (byte)(EndHeaders | EndStream) : EndHeaders,
            stream,
            [.. fields.SelectMany(field => field)],
            cancellationToken
        );

    public Task SendDataAsync(int stream, string data, bool isEnd, CancellationToken cancellationToken) =>
        WriteAsync(Data, isEnd ? EndStream : (byte)0, stream, Encoding.UTF8.GetBytes(data), cancellationToken);

    /// <summary>The status of the answer on a stream, or what became of it otherwise.</summary>
    public async Task<string> OutcomeAsync(int stream, CancellationToken cancellationToken)
    {
        var head = new byte[9];
        while (await ReadAsync(head, cancellationToken))
        {
            var payload = new byte[(head[0] << 16) | (head[1] << 8) | head[2]];
            if (!await ReadAsync(payload, cancellationToken) || head[3] == GoAway)
                return Closed;
            if ((BinaryPrimitives.ReadInt32BigEndian(head.AsSpan(5)) & int.MaxValue) != stream)
                continue;
            if (head[3] == ResetStream)
                return Reset;
            if (head[3] == Headers)
                return StatusOf(payload);
        }

        return Closed;
    }

    public void Dispose() => _client.Dispose();

    // ":status" is the first field: one of the static table, or a literal value with its name from there (RFC 7541, appendix A).
    private static string StatusOf(ReadOnlySpan<byte> block) =>
        block[0] switch
        {
            0x88 => "200",
            0x89 => "204",
            0x8c => "400",
            0x8d => "404",
            0x8e => "500",
            _ => Encoding.ASCII.GetString(block.Slice(2, block[1])),
        };

    // A length of seven bits, and more bytes where they do not suffice (RFC 7541, sections 5.1 and 5.2).
    private static byte[] Text(string text)
    {
        var bytes = Encoding.UTF8.GetBytes(text);
        if (bytes.Length < 127)
            return [(byte)bytes.Length, .. bytes];
        var length = new List<byte> { 127 };
        var rest = bytes.Length - 127;
        for (; rest >= 128; rest /= 128)
            length.Add((byte)((rest % 128) | 128));
        return [.. length, (byte)rest, .. bytes];
    }

    private async Task WriteAsync(byte type, byte flags, int stream, byte[] payload, CancellationToken cancellationToken)
    {
        byte[] head = [(byte)(payload.Length >> 16), (byte)(payload.Length >> 8), (byte)payload.Length, type, flags, 0, 0, 0, 0];
        BinaryPrimitives.WriteInt32BigEndian(head.AsSpan(5), stream);
        try
        {
            await Stream.WriteAsync((byte[])[.. head, .. payload], cancellationToken);
        }
        catch (IOException)
        {
            // cut off already: that is what is read next
        }
    }

    private async Task<bool> ReadAsync(byte[] buffer, CancellationToken cancellationToken)
    {
        try
        {
            return await Stream.ReadAtLeastAsync(buffer, buffer.Length, throwOnEndOfStream: false, cancellationToken) == buffer.Length;
        }
        catch (IOException)
        {
            return false;
        }
    }
}
