using System.Buffers.Text;
using System.Runtime.CompilerServices;

namespace Esb.Endpoints.Http.Outside;

/// <summary>The body of an answer, read piece by piece (RFC 9112, sections 6 and 7). Reused for each answer of a connection.</summary>
internal sealed class AnswerBody(OutsideConnection connection)
{
    private const int MaxSizeLine = 1024;
    private const int MaxTrailerBytes = 16 * 1024;

    private long _left;
    private bool _isChunked;
    private bool _isUntilClose;
    private bool _isFirstChunk;

    /// <summary>The fields after the last chunk.</summary>
    public FieldList Trailers { get; } = new();

    /// <summary>True if the whole body has been read.</summary>
    public bool IsComplete { get; private set; }

    /// <param name="head">The head of the answer.</param>
    /// <param name="isAllowed">True if the answer may have a body, whatever its head says: not to HEAD, and not with a status without a
    /// body.</param>
    public void Begin(AnswerHead head, bool isAllowed)
    {
        Trailers.Clear();
        _isChunked = isAllowed && head.IsChunked;
        _isUntilClose = isAllowed && !head.IsChunked && head.ContentLength is null;
        _isFirstChunk = true;
        _left = isAllowed && !_isChunked ? head.ContentLength ?? 0 : 0;
        IsComplete = !_isChunked && !_isUntilClose && _left == 0;
    }

    /// <summary>Reads the next piece, valid until the next call; empty at the end.</summary>
    /// <exception cref="OutsideException">The external system closed the connection before the end, or the body is malformed.</exception>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public async ValueTask<ReadOnlyMemory<byte>> ReadAsync()
    {
        if (IsComplete)
            return default;
        if (_isChunked && _left == 0 && !await ReadSizeAsync())
            return default;
        if (connection.Received.IsEmpty && !await connection.FillAsync())
        {
            if (!_isUntilClose)
                throw OutsideException.HungUp();
            IsComplete = true;
            return default;
        }

        return Take();
    }

    private ReadOnlyMemory<byte> Take()
    {
        var received = connection.Received;
        var length = _isUntilClose ? received.Length : (int)Math.Min(_left, received.Length);
        connection.Consume(length);
        if (_isUntilClose)
            return received;
        _left -= length;
        IsComplete = _left == 0 && !_isChunked;
        return received[..length];
    }

    // False after the last chunk.
    private async ValueTask<bool> ReadSizeAsync()
    {
        if (!_isFirstChunk && (await ReadLineAsync(MaxSizeLine)).Length != 0)
            throw new BadAnswerException("a chunk is longer than it says");
        _isFirstChunk = false;
        _left = SizeOf((await ReadLineAsync(MaxSizeLine)).Span);
        if (_left > 0)
            return true;
        await ReadTrailersAsync();
        IsComplete = true;
        return false;
    }

    private async ValueTask ReadTrailersAsync()
    {
        var total = 0;
        while (true)
        {
            var line = await ReadLineAsync(MaxTrailerBytes);
            if (line.IsEmpty)
                return;
            total += line.Length;
            if (total > MaxTrailerBytes)
                throw new BadAnswerException("its trailers are too long");
            Trailers.Add(line.Span);
        }
    }

    private async ValueTask<ReadOnlyMemory<byte>> ReadLineAsync(int maxLength)
    {
        while (true)
        {
            var received = connection.Received;
            var end = received.Span.IndexOf((byte)'\n');
            if (end > 0 && received.Span[end - 1] == '\r')
            {
                connection.Consume(end + 1);
                return received[..(end - 1)];
            }

            if (end >= 0 || received.Length > maxLength)
                throw new BadAnswerException("a chunk has an invalid size line");
            if (!await connection.FillAsync())
                throw OutsideException.HungUp();
        }
    }

    // Chunk extensions are ignored (RFC 9112, section 7.1.1).
    private static long SizeOf(ReadOnlySpan<byte> line)
    {
        if (!Utf8Parser.TryParse(line, out long size, out var digits, 'x') || size < 0 || digits > 15)
            throw new BadAnswerException("the size of a chunk is not a number");
        var rest = line[digits..].Trim(" \t"u8);
        return rest.IsEmpty || rest[0] == ';' ? size : throw new BadAnswerException("the size of a chunk is not a number");
    }
}
