using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.IntegrationTests.Sftp;

namespace Esb.IntegrationTests.EndToEnd.Samples;

/// <summary>The sample of SFTP on a real OpenSSH server, unchanged.</summary>
[CancelAfter(60_000)]
public sealed class SftpSampleTests
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(40);

    private DirectoryInfo _folder = null!;
    private SshServer _server = null!;
    private SshUser? _user;
    private RunningHost? _host;

    [SetUp]
    public async Task StartHost()
    {
        _folder = Directory.CreateTempSubdirectory("esb-sftp-sample-");
        _server = await SshServer.StartAsync("PasswordAuthentication yes");
        Directory.CreateDirectory(_server.At("out"));
        Directory.CreateDirectory(_server.At("in"));
        _user = await SshUser.CreateAsync(_server);
        _host = await RunningHost.StartAsync(
            Repository.PathOf("samples", "sftp"),
            _folder.FullName,
            CancellationToken.None,
            new Dictionary<string, string>
            {
                ["ESB_SFTP"] = $"{_user.Url}{_server.Files}",
                ["ESB_SFTP_PASSWORD"] = SshUser.Password,
                ["ESB_SFTP_HOSTKEY"] = _server.HostKey,
            }
        );
    }

    [TearDown]
    public async Task StopHost()
    {
        if (_host is not null)
            await _host.DisposeAsync();
        if (_user is not null)
            await _user.DisposeAsync();
        await _server.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test]
    public async Task File_of_one_folder_comes_into_the_other_and_is_moved(CancellationToken cancellationToken)
    {
        await _server.PutAsync("out/order.xml", "<order>Käse</order>", cancellationToken);

        await _host!.WaitAsync(
            _ => Task.FromResult(File.Exists(_server.At("in", "order.xml")) && File.Exists(_server.At("out", "done", "order.xml"))),
            Limit,
            "to copy the file",
            cancellationToken
        );

        Assert.That(await File.ReadAllTextAsync(_server.At("in", "order.xml"), cancellationToken), Is.EqualTo("<order>Käse</order>"));
    }
}
