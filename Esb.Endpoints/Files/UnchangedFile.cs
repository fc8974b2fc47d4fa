using Esb.Core.Messages;

namespace Esb.Endpoints.Files;

/// <summary>The bytes of a claimed file, as long as nobody writes to it. Not thread-safe.</summary>
/// <param name="file">The file; disposed with this.</param>
/// <param name="path">Its path.</param>
/// <param name="length">Its length when it was taken in.</param>
/// <param name="lastWrite">The time of its last change then.</param>
/// <param name="busy">The failure of a file that has changed since.</param>
internal sealed class UnchangedFile(FileStream file, string path, long length, DateTime lastWrite, Func<Exception?, Exception> busy)
    : ReadOnlyStream
{
    public override long Length => length;

    public override long Position
    {
        get => file.Position;
        set => throw new NotSupportedException();
    }

    public override int Read(Span<byte> buffer) => Check(file.Read(buffer), buffer.Length);

    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
        Check(await file.ReadAsync(buffer, cancellationToken), buffer.Length);

    /// <summary>Into another file on this machine the kernel copies, without the bytes passing through this process.</summary>
    public override async Task CopyToAsync(Stream destination, int bufferSize, CancellationToken cancellationToken)
    {
        if (destination is FileStream { CanSeek: true } target && target.Position == 0 && file.Position == 0)
            await Task.Run(() => CopyWithin(target, cancellationToken), cancellationToken);
        await base.CopyToAsync(destination, bufferSize, cancellationToken); // the rest, and the check at the end
    }

    protected override void Dispose(bool disposing)
    {
        if (disposing)
            file.Dispose();
        base.Dispose(disposing);
    }

    private void CopyWithin(FileStream target, CancellationToken cancellationToken)
    {
        // Short enough to be cancelled. Less a page: pieces that begin at round offsets fill the page cache with its largest units, which
        // are slow to get where memory is fragmented, or where a virtual machine gives it back to its host.
        const long Piece = (128L << 20) - 4096;
        var copied = 0L;
        while (copied < length && Posix.CopyRange(file.SafeFileHandle, target.SafeFileHandle, copied, Piece) is > 0 and var more)
        {
            copied += more;
            cancellationToken.ThrowIfCancellationRequested();
        }

        file.Position = target.Position = copied;
    }

    // At the end it is known that all of it was as it was taken in.
    private int Check(int read, int asked)
    {
        if (asked > 0 && read == 0 && (file.Position != length || file.Length != length || File.GetLastWriteTimeUtc(path) != lastWrite))
            throw busy(null);
        return read;
    }
}
