using System.Diagnostics;
using System.Net.Sockets;
using Esb.Tests;
using Esb.Tests.Topics;
using MimeKit;

namespace Esb.IntegrationTests.Mail;

/// <summary>A Postfix of a test's own, with its configuration, queue and port: it takes mail to <c>example.com</c> over STARTTLS only, and
/// delivers it into a Maildir.</summary>
internal sealed class Postfix : IAsyncDisposable
{
    private const string Program = "/usr/sbin/postfix";

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("esb-postfix-");
    private readonly TestAuthority _authority;

    private Postfix() => _authority = new TestAuthority(_folder.FullName, "mail-ca", TimeProvider.System.GetUtcNow());

    public int Port { get; } = FreePorts.Next();

    /// <summary>The certificate of the authority that has issued the server's.</summary>
    public string Authority => _authority.File;

    private string Log => Path.Combine(_folder.FullName, "log");

    /// <summary>Starts one; ignores the test, in words, where only root could.</summary>
    public static async Task<Postfix> StartAsync()
    {
        if (!File.Exists(Program))
            Assert.Fail("Postfix is not installed: run ./test all, or apt-get install postfix.");
        if (!Environment.IsPrivilegedProcess)
            Assert.Ignore("Only root can start Postfix.");
        var server = new Postfix();
        await server.LaunchAsync();
        return server;
    }

    /// <summary>The mails that it has delivered.</summary>
    public IReadOnlyList<MimeMessage> Delivered()
    {
        var folder = new DirectoryInfo(Path.Combine(_folder.FullName, "mail", "inbox", "new"));
        return folder.Exists ? [.. folder.GetFiles().OrderBy(file => file.Name).Select(file => MimeMessage.Load(file.FullName))] : [];
    }

    public async ValueTask DisposeAsync()
    {
        await RunAsync("stop");
        _authority.Dispose();
        _folder.Delete(recursive: true);
    }

    private async Task LaunchAsync()
    {
        var certificate = _authority.Issue("127.0.0.1");
        await WriteAsync("main.cf", Settings(certificate.Certificate, certificate.Key));
        await WriteAsync("master.cf", Services());
        foreach (var name in new[] { "queue", "data", "mail" })
            _folder.CreateSubdirectory(name);
        await ExecuteAsync("chmod", "755", _folder.FullName);
        await ExecuteAsync("chown", "postfix", Path.Combine(_folder.FullName, "data"));
        await ExecuteAsync("chown", "nobody", Path.Combine(_folder.FullName, "mail"));
        await RunAsync("start");
        var started = TimeProvider.System.GetTimestamp();
        while (!await IsListeningAsync())
        {
            if (TimeProvider.System.GetElapsedTime(started) > TimeSpan.FromSeconds(30))
                Assert.Fail($"Postfix does not listen:\n{(File.Exists(Log) ? await File.ReadAllTextAsync(Log) : "")}");
            await Task.Delay(50);
        }
    }

    private string Settings(string certificate, string key) =>
        $"""
            compatibility_level = 3.6
            queue_directory = {_folder.FullName}/queue
            data_directory = {_folder.FullName}/data
            mail_owner = postfix
            maillog_file = {Log}
            maillog_file_prefixes = {_folder.FullName}
            myhostname = mail.test
            mydestination =
            inet_interfaces = 127.0.0.1
            inet_protocols = ipv4
            alias_maps =
            smtpd_peername_lookup = no
            smtpd_relay_restrictions = reject_unauth_destination
            smtpd_tls_cert_file = {certificate}
            smtpd_tls_key_file = {key}
            smtpd_tls_security_level = encrypt
            virtual_mailbox_domains = example.com
            virtual_mailbox_base = {_folder.FullName}/mail
            virtual_mailbox_maps = static:inbox/
            virtual_uid_maps = static:65534
            virtual_gid_maps = static:65534
            """;

    private string Services() =>
        $"""
            127.0.0.1:{Port} inet n - n - - smtpd
            cleanup unix n - n - 0 cleanup
            qmgr unix n - n 300 1 qmgr
            tlsmgr unix - - n 1000? 1 tlsmgr
            rewrite unix - - n - - trivial-rewrite
            bounce unix - - n - 0 bounce
            defer unix - - n - 0 bounce
            trace unix - - n - 0 bounce
            proxymap unix - - n - - proxymap
            error unix - - n - - error
            retry unix - - n - - error
            virtual unix - n n - - virtual
            anvil unix - - n - 1 anvil
            postlog unix-dgram n - n - 1 postlogd
            """;

    private Task WriteAsync(string name, string text) => File.WriteAllTextAsync(Path.Combine(_folder.FullName, name), text + "\n");

    private Task RunAsync(string command) => ExecuteAsync(Program, "-c", _folder.FullName, command);

    private static async Task ExecuteAsync(string program, params string[] arguments)
    {
        using var process = Process.Start(new ProcessStartInfo(program, arguments) { RedirectStandardError = true })!;
        var errors = await process.StandardError.ReadToEndAsync();
        await process.WaitForExitAsync();
        Assert.That(process.ExitCode, Is.Zero, $"{program} {string.Join(' ', arguments)}: {errors}");
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
