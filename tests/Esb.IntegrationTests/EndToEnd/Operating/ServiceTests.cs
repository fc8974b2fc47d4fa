using System.Collections.Concurrent;
using System.Net.Sockets;
using System.Text;
using Esb.Host.Commands;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd.Operating;

/// <summary>A host as a service of systemd: what it tells of itself, and how the journal gets its lines.</summary>
[CancelAfter(120_000), Platform("Linux")]
public sealed class ServiceTests
{
    // As systemd does: the standard streams are a socket, which a variable names. What comes through it is passed on.
    private const string Journal = """
        import os, signal, socket, subprocess, sys
        near, far = socket.socketpair()
        stat = os.fstat(far.fileno())
        child = subprocess.Popen(sys.argv[1:], stdout=far, stderr=far, env={**os.environ, "JOURNAL_STREAM": f"{stat.st_dev}:{stat.st_ino}"})
        signal.signal(signal.SIGTERM, lambda *_: child.terminate())
        far.close()
        while chunk := near.recv(65536):
            os.write(1, chunk)
        sys.exit(child.wait())
        """;

    private DirectoryInfo _folder = null!;

    private string Configuration => Path.Combine(_folder.FullName, "esb.json");

    [SetUp]
    public async Task WriteConfiguration()
    {
        _folder = Directory.CreateTempSubdirectory("esb-service-");
        await WriteAsync("/orders");
    }

    [TearDown]
    public void DeleteFolder() => _folder.Delete(recursive: true);

    [Test]
    public async Task Service_manager_hears_that_the_host_is_ready_works_and_stops(CancellationToken cancellationToken)
    {
        var path = Path.Combine(_folder.FullName, "notify");
        using var socket = new Socket(AddressFamily.Unix, SocketType.Dgram, ProtocolType.Unspecified);
        socket.Bind(new UnixDomainSocketEndPoint(path));
        var heard = new ConcurrentQueue<string>();
        var hearing = HearAsync();
        await using var host = await HostProcess.StartAsync(
            Configuration,
            _folder.FullName,
            cancellationToken,
            new Dictionary<string, string> { ["NOTIFY_SOCKET"] = path, ["WATCHDOG_USEC"] = "1000000" }
        );
        await host.WaitAsync(
            _ => Task.FromResult(heard.Contains("WATCHDOG=1")),
            TimeSpan.FromSeconds(30),
            "to feed the watchdog",
            cancellationToken
        );
        var exitCode = await host.StopAsync(cancellationToken);
        socket.Close();
        await hearing;

        Assert.That(exitCode, Is.Zero, host.Output);
        Assert.That(heard.Distinct(), Is.EqualTo(new[] { "READY=1", "WATCHDOG=1", "STOPPING=1" }), "in this order");

        async Task HearAsync()
        {
            var buffer = new byte[1_024];
            try
            {
                while (true)
                    heard.Enqueue(Encoding.UTF8.GetString(buffer, 0, await socket.ReceiveAsync(buffer)));
            }
            catch (Exception ex) when (ex is SocketException or ObjectDisposedException)
            {
                // The end of the test.
            }
        }
    }

    [Test]
    public async Task Host_that_cannot_start_says_so_to_the_journal_as_an_error(CancellationToken cancellationToken)
    {
        await WriteAsync("no path");
        await using var host = Launch();
        var exitCode = await host.WaitForExitAsync(cancellationToken);

        Assert.That(exitCode, Is.EqualTo(ExitCode.Configuration), host.Output);
        Assert.That(host.Output.Split('\n'), Has.Some.StartsWith("<3>").And.Contains("ESB-CFG"));
        Assert.That(host.Output.Split('\n').Where(line => line.Length > 0), Has.All.StartsWith("<"), "no line without a priority");
    }

    [Test, Category("Thorough")]
    public async Task Journal_gets_the_level_of_each_line(CancellationToken cancellationToken)
    {
        await using var host = Launch();
        await host.WaitUntilReadyAsync(cancellationToken);
        await host.StopAsync(cancellationToken);

        Assert.That(host.Output.Split('\n'), Has.Some.StartsWith("<6>"));
        Assert.That(host.Output.Split('\n'), Has.None.StartsWith("<3>"));
    }

    private HostProcess Launch() =>
        HostProcess.Launch(Repository.Host, Configuration, _folder.FullName, new Dictionary<string, string>(), ["python3", "-c", Journal]);

    private Task WriteAsync(string path) =>
        File.WriteAllTextAsync(
            Configuration,
            $$"""
            {
              "name": "service",
              "topics": { "orders": {} },
              "endpoints": { "shop": { "type": "http-inbound", "path": "{{path}}", "publish": "orders.new" } }
            }
            """
        );
}
