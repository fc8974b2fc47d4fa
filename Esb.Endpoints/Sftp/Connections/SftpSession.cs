using Renci.SshNet;

namespace Esb.Endpoints.Sftp.Connections;

/// <summary>A session that one caller has rented from a pool; disposing returns it. Not thread-safe.</summary>
/// <param name="client">The session.</param>
/// <param name="giveBack">Takes the session back; true if it can be used again.</param>
internal sealed class SftpSession(SftpClient client, Action<SftpClient, bool> giveBack) : IDisposable
{
    private bool _isReturned;

    public SftpClient Client => client;

    /// <summary>True if the session can be used again. False until its user says so: after a failure its state is unknown.</summary>
    public bool IsSound { get; set; }

    public void Dispose()
    {
        if (_isReturned)
            return;
        _isReturned = true;
        giveBack(client, IsSound);
    }
}
