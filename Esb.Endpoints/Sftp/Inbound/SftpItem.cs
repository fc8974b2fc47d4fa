using Esb.Delivery.Polling;
using Esb.Endpoints.Sftp.Connections;

namespace Esb.Endpoints.Sftp.Inbound;

/// <summary>A file claimed by this host.</summary>
/// <param name="MessageId">The id of its message.</param>
/// <param name="File">The file as it was found.</param>
/// <param name="Path">Its present path on the server.</param>
internal sealed record SftpItem(Guid MessageId, SftpFile File, string Path) : PolledItem(MessageId)
{
    /// <summary>The session that the file is read over while its message is handed over; null if it is read as a whole.</summary>
    public SftpSession? Session { get; init; }
}
