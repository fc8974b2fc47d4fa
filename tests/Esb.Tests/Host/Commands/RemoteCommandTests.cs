using System.Net;
using System.Net.Sockets;
using Esb.Core.Endpoints;
using Esb.Host.Commands;
using Esb.Tests.Fakes;
using Esb.Tests.Host.Management;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using NSubstitute;

namespace Esb.Tests.Host.Commands;

/// <summary>A command asks a running host, and names what keeps it from that.</summary>
[CancelAfter(30_000)]
public sealed class RemoteCommandTests : CommandLineFixture
{
    [Test]
    public async Task Endpoints_of_a_running_host_are_listed(CancellationToken cancellationToken)
    {
        var monitor = Substitute.For<IEndpointMonitor>();
        monitor.Endpoints.Returns([
            new EndpointStatus
            {
                Name = "ledger",
                Type = "file-outbound",
                State = EndpointState.Paused,
                Reason = "the disk is full",
                Messages = 1234567,
            },
        ]);
        await using var host = await RunningManagement.StartAsync(cancellationToken, services => services.AddSingleton(monitor));

        var exitCode = await AskAsync(host, "endpoints", "list");

        Assert.That(exitCode, Is.Zero);
        Assert.That(Output, Does.Match(@"ledger +file-outbound +paused +1234567 .*the disk is full"));
    }

    [TestCase("set", "--pool-size", "5"), TestCase("pause"), TestCase("resume")]
    public async Task Change_of_an_endpoint_is_logged_with_the_name_of_the_operator(string command, params string[] options)
    {
        var (monitor, farm, log) = (Substitute.For<IEndpointMonitor>(), Substitute.For<IFarmTuning>(), new LogLines());
        monitor.Endpoints.Returns([
            new EndpointStatus
            {
                Name = "ledger",
                Type = "file-outbound",
                State = EndpointState.Running,
            },
        ]);
        farm.TuneAsync(default!, default!, default!, default).ReturnsForAnyArgs([]);
        farm.Tuned.Returns([]);
        await using var host = await RunningManagement.StartAsync(
            CancellationToken.None,
            services => services.AddSingleton(monitor).AddSingleton(farm).AddSingleton<ILoggerProvider>(log)
        );

        var exitCode = await AskAsync(host, ["endpoints", command, "ledger", .. options]);

        Assert.That(exitCode, Is.Zero, Error);
        Assert.That(log.All.Select(line => line.Text), Has.One.Contains($"Endpoint ledger was changed by {Environment.UserName};"));
    }

    [Test, Property("Case", "CLI-06")]
    public async Task Host_that_is_away_is_named()
    {
        var exitCode = await RunAsync("endpoints", "list", "--url", $"http://127.0.0.1:{FreePorts.Next()}");

        Assert.That(exitCode, Is.EqualTo(5));
        Assert.That(Error, Does.Match(@"^ESB-CLI-UNREACHABLE No host can be reached at 127\.0\.0\.1:\d+: nobody listens there\."));
    }

    // Again and again: a connection that is reset between being opened and being used, some in a thousand, fails in a way of its own.
    [Test]
    public void Host_that_resets_connections_is_named(CancellationToken cancellationToken)
    {
        using var resetting = new TcpListener(IPAddress.Loopback, 0);
        resetting.Start();
        var accepting = ResetAsync();
        using (var client = new ManagementClient(new Uri($"http://{resetting.LocalEndpoint}"), key: null))
        {
            for (var attempt = 0; attempt < 1_000; attempt++)
            {
                var failure = Assert.ThrowsAsync<CommandException>(() => client.GetEndpointsAsync(cancellationToken));
                Assert.That((failure.ExitCode, failure.Code), Is.EqualTo((ExitCode.Unreachable, "ESB-CLI-UNREACHABLE")));
            }
        }

        resetting.Stop();
        Assert.That(() => accepting, Throws.InstanceOf<SocketException>().Or.InstanceOf<ObjectDisposedException>());

        async Task ResetAsync()
        {
            while (true)
                (await resetting.AcceptSocketAsync(CancellationToken.None)).Close(timeout: 0);
        }
    }

    [Test, Property("Case", "CLI-06")]
    public async Task Host_that_hangs_is_given_up_within_ten_seconds()
    {
        using var silent = new TcpListener(IPAddress.Loopback, 0);
        silent.Start();
        ReachTime = CommandContext.DefaultReachTime;
        var started = TimeProvider.System.GetTimestamp();

        var exitCode = await RunAsync("endpoints", "list", "--url", $"http://{silent.LocalEndpoint}");

        Assert.That(exitCode, Is.EqualTo(5));
        Assert.That(TimeProvider.System.GetElapsedTime(started), Is.LessThan(TimeSpan.FromSeconds(10)));
    }

    [Test, Property("Case", "CLI-07")]
    public async Task Wrong_key_is_not_authorized(CancellationToken cancellationToken)
    {
        await using var host = await RunningManagement.StartAsync(cancellationToken);

        var exitCode = await RunWithAsync(
            new() { ["ESB_KEY"] = "wrong-key" },
            "endpoints",
            "list",
            "--url",
            host.Server.Address.ToString()
        );

        Assert.That(exitCode, Is.EqualTo(4));
        Assert.That(Error, Does.Contain("ESB_KEY").And.Not.Contain("wrong-key"));
    }

    [Test, Property("Case", "CLI-07")]
    public async Task Missing_key_file_is_named(CancellationToken cancellationToken)
    {
        await using var host = await RunningManagement.StartAsync(cancellationToken);
        var file = Path.Combine(Folder, "nowhere.key");

        var exitCode = await RunAsync("endpoints", "list", "--url", host.Server.Address.ToString(), "--key-file", file);

        Assert.That(exitCode, Is.EqualTo(4));
        Assert.That(Error, Does.StartWith($"ESB-CLI-KEY There is no key: ESB_KEY is not set, and there is no file {file}."));
    }
}
