using System.Diagnostics;
using System.Net.Sockets;
using Esb.Tests;
using Esb.Tests.Topics;
using MimeKit;

namespace Esb.IntegrationTests.Mail;

/// <summary>A mail server that is not ours, aiosmtpd of Python, on loopback: it takes mail only over STARTTLS, of the user "esb" with the
/// password "right", and keeps it in a Maildir.</summary>
internal sealed class AioSmtpd : IAsyncDisposable
{
    private const string Program = "/usr/bin/python3"; // which knows the packages of Debian

    private const string Script = """
        import ssl, sys
        from aiosmtpd.controller import Controller
        from aiosmtpd.handlers import Mailbox
        from aiosmtpd.smtp import AuthResult

        port, certificate, key, maildir = sys.argv[1:]
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(certificate, key)

        def authenticate(server, session, envelope, mechanism, data):
            return AuthResult(success=(data.login, data.password) == (b"esb", b"right"), handled=False)

        Controller(
            Mailbox(maildir), hostname="127.0.0.1", port=int(port), tls_context=context, require_starttls=True,
            authenticator=authenticate, auth_required=True, enable_SMTPUTF8=True).start()
        sys.stdin.read()
        """;

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("esb-aiosmtpd-");
    private readonly TestAuthority _authority;
    private Process? _process;

    private AioSmtpd() => _authority = new TestAuthority(_folder.FullName, "mail-ca", TimeProvider.System.GetUtcNow());

    public int Port { get; } = FreePorts.Next();

    /// <summary>The certificate of the authority that has issued the server's.</summary>
    public string Authority => _authority.File;

    private string Maildir => Path.Combine(_folder.FullName, "mail");

    public static async Task<AioSmtpd> StartAsync()
    {
        if (!Directory.Exists("/usr/lib/python3/dist-packages/aiosmtpd"))
            Assert.Fail("aiosmtpd is not installed: run ./test, or apt-get install python3-aiosmtpd.");
        var server = new AioSmtpd();
        await server.LaunchAsync();
        return server;
    }

    /// <summary>The mails that it has taken, with the envelope in the headers <c>X-MailFrom</c> and <c>X-RcptTo</c>.</summary>
    public IReadOnlyList<MimeMessage> Received()
    {
        var folder = new DirectoryInfo(Path.Combine(Maildir, "new"));
        return folder.Exists ? [.. folder.GetFiles().OrderBy(file => file.Name).Select(file => MimeMessage.Load(file.FullName))] : [];
    }

    public async ValueTask DisposeAsync()
    {
        _process!.Kill();
        await _process.WaitForExitAsync();
        _process.Dispose();
        _authority.Dispose();
        _folder.Delete(recursive: true);
    }

    private async Task LaunchAsync()
    {
        var certificate = _authority.Issue("127.0.0.1");
        var start = new ProcessStartInfo(Program, ["-c", Script, $"{Port}", certificate.Certificate, certificate.Key, Maildir])
        {
            RedirectStandardInput = true, // it ends with the tests
            RedirectStandardError = true,
        };
        _process = Process.Start(start)!;
        var errors = _process.StandardError.ReadToEndAsync();
        var started = TimeProvider.System.GetTimestamp();
        while (!await IsListeningAsync())
        {
            if (_process.HasExited || TimeProvider.System.GetElapsedTime(started) > TimeSpan.FromSeconds(30))
                Assert.Fail($"aiosmtpd did not start:\n{(_process.HasExited ? await errors : "it does not listen")}");
            await Task.Delay(20);
        }
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
