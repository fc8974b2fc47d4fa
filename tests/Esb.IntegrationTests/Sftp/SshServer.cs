using System.Diagnostics;
using System.Net.Sockets;
using Esb.Tests;

namespace Esb.IntegrationTests.Sftp;

/// <summary>An OpenSSH server of a test's own, on loopback, with keys of its own; to be killed and started again.</summary>
internal sealed class SshServer : IAsyncDisposable
{
    private const string Program = "/usr/sbin/sshd";

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("esb-sshd-");
    private Process? _process;

    private SshServer() { }

    public int Port { get; } = FreePorts.Next();

    /// <summary>The folder that endpoints use, as this machine sees it.</summary>
    public string Files => Path.Combine(_folder.FullName, "files");

    public string Url => $"sftp://{Environment.UserName}@127.0.0.1:{Port}{Files}";

    /// <summary>The fingerprint of the first of its two host keys.</summary>
    public string HostKey { get; private set; } = "";

    /// <summary>The fingerprint of the second.</summary>
    public string SecondHostKey { get; private set; } = "";

    public string PrivateKey { get; private set; } = "";

    /// <summary>The private key of a user that the server does not know.</summary>
    public string StrangerKey => File.ReadAllText(Path.Combine(_folder.FullName, "host2"));

    public string At(params ReadOnlySpan<string> parts) => Path.Combine([Files, .. parts]);

    public static async Task<SshServer> StartAsync(string settings = "")
    {
        if (!File.Exists(Program))
            Assert.Fail("openssh-server is not installed: run ./test, or apt-get install openssh-server.");
        var server = new SshServer();
        await server.PrepareAsync(settings);
        await server.StartAgainAsync();
        return server;
    }

    public async Task StartAgainAsync()
    {
        _process = Process.Start(
            new ProcessStartInfo(
                Program,
                ["-D", "-E", Path.Combine(_folder.FullName, "log"), "-f", Path.Combine(_folder.FullName, "sshd_config")]
            )
        )!;
        var started = TimeProvider.System.GetTimestamp();
        while (!await IsListeningAsync())
        {
            if (_process.HasExited || TimeProvider.System.GetElapsedTime(started) > TimeSpan.FromSeconds(30))
                Assert.Fail($"sshd did not start:\n{await File.ReadAllTextAsync(Path.Combine(_folder.FullName, "log"))}");
            await Task.Delay(20);
        }
    }

    /// <summary>Kills the server and all its sessions.</summary>
    public async Task KillAsync()
    {
        if (_process is null)
            return;
        _process.Kill(entireProcessTree: true);
        await _process.WaitForExitAsync();
        _process.Dispose();
        _process = null;
    }

    /// <summary>Lets the user in, or not any more.</summary>
    public void LetIn(bool isLetIn) =>
        File.Move(
            Path.Combine(_folder.FullName, isLetIn ? "keys.away" : "keys"),
            Path.Combine(_folder.FullName, isLetIn ? "keys" : "keys.away")
        );

    /// <summary>Puts a file in as a whole.</summary>
    public async Task PutAsync(string name, string text, CancellationToken cancellationToken = default)
    {
        Directory.CreateDirectory(Path.GetDirectoryName(At(name))!);
        await File.WriteAllTextAsync(At($"{name}.part"), text, cancellationToken);
        File.Move(At($"{name}.part"), At(name));
    }

    public async ValueTask DisposeAsync()
    {
        await KillAsync();
        _folder.Delete(recursive: true);
    }

    private async Task PrepareAsync(string settings)
    {
        Directory.CreateDirectory(Files);
        Directory.CreateDirectory("/run/sshd"); // where a server that runs as root parts its privileges
        HostKey = await MakeKeyAsync("host", "ed25519");
        SecondHostKey = await MakeKeyAsync("host2", "ecdsa");
        await MakeKeyAsync("user", "ed25519");
        PrivateKey = await File.ReadAllTextAsync(Path.Combine(_folder.FullName, "user"));
        File.Copy(Path.Combine(_folder.FullName, "user.pub"), Path.Combine(_folder.FullName, "keys"));
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "sshd_config"),
            $"""
            Port {Port}
            ListenAddress 127.0.0.1
            HostKey {_folder.FullName}/host
            HostKey {_folder.FullName}/host2
            AuthorizedKeysFile {_folder.FullName}/keys
            PidFile none
            StrictModes no
            UsePAM no
            PermitRootLogin yes
            KbdInteractiveAuthentication no
            MaxStartups 200
            Subsystem sftp internal-sftp
            {settings}
            """
        );
    }

    private async Task<string> MakeKeyAsync(string name, string type)
    {
        var path = Path.Combine(_folder.FullName, name);
        await RunAsync("ssh-keygen", "-q", "-t", type, "-N", "", "-f", path);
        return (await RunAsync("ssh-keygen", "-lf", $"{path}.pub")).Split(' ')[1];
    }

    /// <summary>Runs a program and returns its output.</summary>
    public static async Task<string> RunAsync(string program, params string[] arguments)
    {
        using var process = Process.Start(new ProcessStartInfo(program, arguments) { RedirectStandardOutput = true })!;
        var output = await process.StandardOutput.ReadToEndAsync();
        await process.WaitForExitAsync();
        Assert.That(process.ExitCode, Is.Zero, $"{program} {string.Join(' ', arguments)}");
        return output;
    }

    private async Task<bool> IsListeningAsync()
    {
        try
        {
            using var client = new TcpClient();
            await client.ConnectAsync("127.0.0.1", Port);
            return true;
        }
        catch (SocketException)
        {
            return false;
        }
    }
}
