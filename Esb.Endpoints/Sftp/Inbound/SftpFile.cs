using System.Globalization;
using Esb.Core.Messages;
using Esb.Endpoints.Sftp.Connections;

namespace Esb.Endpoints.Sftp.Inbound;

/// <summary>A file found on a server.</summary>
/// <param name="Folder">Its folder, relative to that of the endpoint; empty for that itself.</param>
/// <param name="Name">Its name.</param>
/// <param name="Size">Its size in bytes.</param>
/// <param name="Modified">The time of its last change, in UTC.</param>
internal sealed record SftpFile(string Folder, string Name, long Size, DateTime Modified)
{
    /// <summary>The path relative to the folder of the endpoint.</summary>
    public string Relative => SftpAddress.Join(Folder, Name);

    /// <summary>The message id: the same for the same file after a crash, another one for a file that was sent again.</summary>
    public Guid IdFor(string endpoint, string folder) =>
        MessageIds.FromForeign(
            string.Create(
                CultureInfo.InvariantCulture,
                $"file\n{SftpAddress.Join(folder, Relative)}\n{Size}\n{Modified:yyyy-MM-ddTHH:mm:ssZ}"
            ),
            endpoint
        );
}
