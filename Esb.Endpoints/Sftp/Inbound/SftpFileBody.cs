using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Endpoints.Sftp.Connections;
using Renci.SshNet;

namespace Esb.Endpoints.Sftp.Inbound;

/// <summary>The bytes of a claimed file, read from the server a few blocks ahead of what is taken, as long as it does not change. It is
/// opened at the first read. Not thread-safe.</summary>
internal sealed class SftpFileBody : ReadOnlyStream
{
    // The client's own read-ahead grows to a hundred requests of a file, more than the pool of arrays keeps: a large file would make the
    // host grow. Here each open file has one request at a time.
    private const int MostAhead = 24;

    private readonly string _endpoint;
    private readonly SftpItem _item;
    private readonly SftpBlock[] _blocks;
    private readonly CancellationTokenSource _closing = new();
    private long _position;
    private long _asked;

    /// <summary>Opens nothing yet.</summary>
    /// <param name="endpoint">The endpoint, for messages.</param>
    /// <param name="item">The file.</param>
    /// <param name="client">The session, which stays open until this is closed.</param>
    public SftpFileBody(string endpoint, SftpItem item, SftpClient client)
    {
        (_endpoint, _item) = (endpoint, item);
        // With the last block, which may be empty, to see that the file ends there.
        _blocks = new SftpBlock[Math.Min(item.File.Size / SftpBlock.Size + 1, MostAhead)];
        for (var i = 0; i < _blocks.Length; i++)
            _blocks[i] = new SftpBlock(client, item.Path);
    }

    public override long Length => _item.File.Size;

    public override long Position
    {
        get => _position;
        set => throw new NotSupportedException();
    }

    private SftpBlock Current => _blocks[_position / SftpBlock.Size % _blocks.Length];

    public override int Read(Span<byte> buffer)
    {
        try
        {
            AskAhead();
            return Take(buffer, Current.Filled.GetAwaiter().GetResult());
        }
        catch (Exception ex) when (Failure(ex) is { } failure)
        {
            throw ForNow(failure);
        }
    }

    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        try
        {
            AskAhead();
            var block = await Current.Filled.WaitAsync(cancellationToken);
            return Take(buffer.Span, block);
        }
        catch (Exception ex) when (!cancellationToken.IsCancellationRequested && Failure(ex) is { } failure)
        {
            throw ForNow(failure);
        }
    }

    public override async ValueTask DisposeAsync()
    {
        await CloseAsync();
        await base.DisposeAsync();
    }

    protected override void Dispose(bool disposing)
    {
        if (disposing)
            CloseAsync().GetAwaiter().GetResult();
        base.Dispose(disposing);
    }

    private async Task CloseAsync()
    {
        if (_closing.IsCancellationRequested)
            return; // closed before
        await _closing.CancelAsync();
        await Task.WhenAll(_blocks.Select(block => block.CloseAsync()));
        _closing.Dispose();
    }

    private void AskAhead()
    {
        for (; _asked < _position / SftpBlock.Size + _blocks.Length && _asked <= Length / SftpBlock.Size; _asked++)
            _blocks[_asked % _blocks.Length].Fill(_asked * SftpBlock.Size, _closing.Token);
    }

    private int Take(Span<byte> buffer, ReadOnlyMemory<byte> block)
    {
        var left = block.Span[(int)Math.Min(_position % SftpBlock.Size, block.Length)..];
        var read = Math.Min(buffer.Length, left.Length);
        left[..read].CopyTo(buffer);
        _position += read;
        if (_position > Length || (buffer.Length > 0 && read == 0 && _position != Length))
            throw new EsbException("ESB-FILE-BUSY", "The file is still being written to.", FaultKind.Unavailable);
        return read;
    }

    private EndpointException? Failure(Exception ex) => ex is EsbException ? null : SftpFailures.Of(_endpoint, ex);

    // The outbound endpoint that the bytes go to is not at fault.
    private static EsbException ForNow(EndpointException failure) =>
        new(failure.Code, failure.Message, FaultKind.Unavailable, failure) { Detail = failure.Detail };
}
