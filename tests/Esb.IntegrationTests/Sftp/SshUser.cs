namespace Esb.IntegrationTests.Sftp;

/// <summary>A user of this machine with a password, whose home is the folder of a server; removed when it is disposed.</summary>
internal sealed class SshUser : IAsyncDisposable
{
    public const string Password = "Geheim-1";

    private readonly SshServer _server;
    private readonly string _name = $"esb{Guid.NewGuid():N}"[..16];

    private SshUser(SshServer server) => _server = server;

    public string Url => $"sftp://{_name}@127.0.0.1:{_server.Port}";

    /// <summary>Creates one; ignores the test, in words, where that is not allowed.</summary>
    public static async Task<SshUser> CreateAsync(SshServer server)
    {
        if (!Environment.IsPrivilegedProcess)
            Assert.Ignore("Only root can make a user that has a password.");
        var user = new SshUser(server);
        var hash = (await SshServer.RunAsync("openssl", "passwd", "-6", Password)).Trim();
        await SshServer.RunAsync("useradd", "--no-create-home", "--home-dir", server.Files, "--password", hash, user._name);
        await SshServer.RunAsync("chown", "-R", user._name, server.Files);
        await SshServer.RunAsync("chmod", "755", Path.GetDirectoryName(server.Files)!);
        return user;
    }

    public async ValueTask DisposeAsync()
    {
        await _server.KillAsync(); // its sessions are the user's
        await SshServer.RunAsync("userdel", _name);
    }
}
