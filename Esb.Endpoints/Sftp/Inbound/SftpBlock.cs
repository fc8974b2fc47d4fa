using Renci.SshNet;
using Renci.SshNet.Sftp;

namespace Esb.Endpoints.Sftp.Inbound;

/// <summary>Memory for one block of a remote file at a time, and the file, opened for it alone. Not thread-safe.</summary>
/// <param name="client">The session.</param>
/// <param name="path">The file.</param>
internal sealed class SftpBlock(SftpClient client, string path)
{
    /// <summary>The bytes of a block: what the client asks for in one request, and every server answers whole.</summary>
    public const int Size = 32 * 1024;

    private readonly byte[] _bytes = new byte[Size];
    private SftpFileStream? _file;

    /// <summary>The bytes of the block that was asked for last, fewer than <see cref="Size"/> at the end of the file; valid until the next
    /// is asked for. Fails as the client does.</summary>
    public Task<ReadOnlyMemory<byte>> Filled { get; private set; } = Task.FromResult(ReadOnlyMemory<byte>.Empty);

    /// <summary>Asks for the bytes from a position on.</summary>
    public void Fill(long position, CancellationToken cancellationToken) => Filled = FillAsync(position, cancellationToken);

    /// <summary>Closes the file once nothing is read from it any more, which the token given to <see cref="Fill"/> brings about.</summary>
    public async Task CloseAsync()
    {
        await ((Task)Filled).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        if (_file is { } file)
            await file.DisposeAsync();
    }

    private async Task<ReadOnlyMemory<byte>> FillAsync(long position, CancellationToken cancellationToken)
    {
        _file ??= await client.OpenAsync(path, FileMode.Open, FileAccess.Read, cancellationToken);
        if (_file.Position != position)
            _file.Position = position; // makes the client forget its read-ahead
        var filled = 0;
        while (filled < Size && await _file.ReadAsync(_bytes.AsMemory(filled), cancellationToken) is > 0 and var read)
            filled += read;
        return _bytes.AsMemory(0, filled);
    }
}
