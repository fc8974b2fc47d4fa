using Esb.Core.Messages;
using Renci.SshNet;

namespace Esb.Endpoints.Sftp.Outbound;

/// <summary>The body of a message on its way to a server, piece by piece. One delivery; not thread-safe.</summary>
/// <param name="body">The body.</param>
internal sealed class SftpUpload(MessageBody body) : IAsyncDisposable
{
    private DigestStream? _sent;

    /// <summary>True if bytes were read since the file on the server was opened, which is then this upload's.</summary>
    public bool HasBegun => _sent is { Count: > 0 };

    /// <summary>Sends the body to a file.</summary>
    /// <param name="client">The session.</param>
    /// <param name="path">The file.</param>
    /// <param name="canReplace">True if the file may exist.</param>
    /// <param name="cancellationToken">Cancels the upload.</param>
    public async Task SendAsync(SftpClient client, string path, bool canReplace, CancellationToken cancellationToken)
    {
        if (HasBegun)
            await DisposeAsync();
        _sent ??= new DigestStream(body.Open());
        await client.UploadFileAsync(_sent, path, canReplace, uploadProgress: null, cancellationToken);
    }

    /// <summary>True if a file has the bytes that were sent.</summary>
    /// <param name="client">The session.</param>
    /// <param name="path">The file.</param>
    /// <param name="length">Its length.</param>
    /// <param name="cancellationToken">Cancels the download.</param>
    public async Task<bool> IsSameAsync(SftpClient client, string path, long length, CancellationToken cancellationToken)
    {
        if (length != _sent!.Count)
            return false;
        await using var found = new DigestStream(Stream.Null);
        await client.DownloadFileAsync(path, found, cancellationToken);
        return found.Count == _sent.Count && found.Digest.SequenceEqual(_sent.Digest);
    }

    public async ValueTask DisposeAsync()
    {
        if (_sent is null)
            return;
        await _sent.DisposeAsync();
        _sent = null;
    }
}
