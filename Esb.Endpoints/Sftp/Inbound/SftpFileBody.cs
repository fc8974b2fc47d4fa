using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Endpoints.Sftp.Connections;
using Renci.SshNet;
using Renci.SshNet.Sftp;

namespace Esb.Endpoints.Sftp.Inbound;

/// <summary>The bytes of a claimed file, read from the server as they are needed, as long as it does not change. Not thread-safe.</summary>
internal sealed class SftpFileBody : ReadOnlyStream
{
    private readonly string _endpoint;
    private readonly SftpItem _item;
    private readonly SftpFileStream _file;
    private long _position;

    private SftpFileBody(string endpoint, SftpItem item, SftpFileStream file) => (_endpoint, _item, _file) = (endpoint, item, file);

    public override long Length => _item.File.Size;

    public override long Position
    {
        get => _position;
        set => throw new NotSupportedException();
    }

    /// <summary>Opens a file.</summary>
    /// <exception cref="EsbException">It cannot be read for now.</exception>
    public static SftpFileBody Open(string endpoint, SftpItem item, SftpClient client)
    {
        try
        {
            return new SftpFileBody(endpoint, item, client.Open(item.Path, FileMode.Open, FileAccess.Read));
        }
        catch (Exception ex) when (SftpFailures.Of(endpoint, ex) is { } failure)
        {
            throw ForNow(failure);
        }
    }

    public override int Read(Span<byte> buffer)
    {
        try
        {
            return Check(_file.Read(buffer), buffer.Length);
        }
        catch (Exception ex) when (ex is not EsbException && SftpFailures.Of(_endpoint, ex) is { } failure)
        {
            throw ForNow(failure);
        }
    }

    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        try
        {
            return Check(await _file.ReadAsync(buffer, cancellationToken), buffer.Length);
        }
        catch (Exception ex)
            when (ex is not EsbException && !cancellationToken.IsCancellationRequested && SftpFailures.Of(_endpoint, ex) is { } failure)
        {
            throw ForNow(failure);
        }
    }

    protected override void Dispose(bool disposing)
    {
        if (disposing)
            _file.Dispose();
        base.Dispose(disposing);
    }

    // The outbound endpoint that the bytes go to is not at fault.
    private static EsbException ForNow(EndpointException failure) =>
        new(failure.Code, failure.Message, FaultKind.Unavailable, failure) { Detail = failure.Detail };

    private int Check(int read, int asked)
    {
        _position += read;
        if (_position > Length || (asked > 0 && read == 0 && _position != Length))
            throw new EsbException("ESB-FILE-BUSY", "The file is still being written to.", FaultKind.Unavailable);
        return read;
    }
}
