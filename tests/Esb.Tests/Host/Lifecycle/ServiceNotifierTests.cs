using System.Net.Sockets;
using System.Text;
using Esb.Host.Lifecycle;
using Esb.Host.Logging;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Tests.Host.Lifecycle;

public sealed class ServiceNotifierTests
{
    [Test, CancelAfter(30_000), Platform("Linux")]
    public async Task Service_manager_is_told_when_the_host_is_ready_works_and_stops(CancellationToken cancellationToken)
    {
        var path = Path.Combine(Path.GetTempPath(), $"{Guid.NewGuid():N}.sock");
        using var manager = new Socket(AddressFamily.Unix, SocketType.Dgram, ProtocolType.Unspecified);
        manager.Bind(new UnixDomainSocketEndPoint(path));
        var variables = new Dictionary<string, string>
        {
            ["NOTIFY_SOCKET"] = path,
            ["WATCHDOG_USEC"] = "20000",
            ["WATCHDOG_PID"] = "7",
        };
        var told = new List<string>();
        try
        {
            await using (
                var notifier = new ServiceNotifier(variables, processId: 7, TimeProvider.System, NullLogger<ServiceNotifier>.Instance)
            )
            {
                notifier.Ready();
                for (var i = 0; i < 3; i++)
                    told.Add(await ReceiveAsync());
                notifier.Stopping();
                while (told[^1] != "STOPPING=1")
                    told.Add(await ReceiveAsync());
            }
        }
        finally
        {
            File.Delete(path);
        }

        Assert.That(told.Take(3), Is.EqualTo(new[] { "READY=1", "WATCHDOG=1", "WATCHDOG=1" }));

        async Task<string> ReceiveAsync()
        {
            var buffer = new byte[100];
            var length = await manager.ReceiveAsync(buffer, cancellationToken);
            return Encoding.UTF8.GetString(buffer, 0, length);
        }
    }

    [Test]
    public async Task Socket_that_is_gone_stops_nothing()
    {
        var variables = new Dictionary<string, string> { ["NOTIFY_SOCKET"] = "/nowhere/notify.sock" };
        await using var notifier = new ServiceNotifier(variables, processId: 7, TimeProvider.System, NullLogger<ServiceNotifier>.Instance);

        Assert.That(notifier.Ready, Throws.Nothing);
    }

    [Test]
    public void Each_line_of_the_journal_has_its_priority()
    {
        Assert.That(JournalLines.Prefixed(JournalLines.PrefixOf(LogLevel.Warning), "one\r\ntwo\n"), Is.EqualTo("<4>one\n<4>two"));
        Assert.That(
            JournalLines.IsTarget(new Dictionary<string, string> { ["JOURNAL_STREAM"] = "8:1" }, descriptor: 1),
            Is.False,
            "the output of this process leads elsewhere"
        );
    }
}
