using System.Globalization;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Nemeses;
using Esb.IntegrationTests.Faults.Sinks;
using Npgsql;

namespace Esb.IntegrationTests.Faults.Scenarios.Stores;

/// <summary>A volume is full, to the last byte: the host stays up, says what is wrong, loses nothing, and goes on by itself once there is
/// space again.</summary>
[NonParallelizable]
public sealed class FullVolumeTests
{
    private static readonly TimeSpan Healthy = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan Full = TimeSpan.FromSeconds(20);
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    [TestCase("rabbitmq", "ESB-TOPIC-UNAVAILABLE"), TestCase("postgres", null)]
    [Category("Faults"), CancelAfter(400_000), Property("Case", "T-OVL-4")]
    public async Task Full_volume_of_a_server_is_survived(string server, string? code, CancellationToken cancellationToken)
    {
        await using var cramped = await CrampedServers.StartAsync(server);
        await using var bench = await FaultBench.StartAsync(Plan(server, cramped.Servers), cancellationToken);
        await RunAsync(bench, cramped.Volume, server, code, () => ReviveAsync(bench, server, cancellationToken), cancellationToken);
    }

    [Test, Category("Faults"), CancelAfter(400_000), Property("Case", "T-OVL-4")]
    public async Task Full_volume_of_the_host_is_survived(CancellationToken cancellationToken)
    {
        await using var bench = await FaultBench.CreateAsync(Plan("host", servers: null));
        await using var volume = await SmallVolume.MountAsync(bench.Farm.Hosts[0].Folder, megabytes: 64);
        await using var farm = bench.Farm; // ends before its volume does
        await farm.StartAsync(cancellationToken);
        await RunAsync(bench, volume, "host", "ESB-AUD-WRITE", () => Task.FromResult("it went on"), cancellationToken);
    }

    private static async Task RunAsync(
        FaultBench bench,
        SmallVolume volume,
        string owner,
        string? code,
        Func<Task<string>> revive,
        CancellationToken cancellationToken
    )
    {
        using var load = bench.Load(
            new LoadPlan
            {
                Messages = 1_000,
                Rate = 200,
                LargestBody = 4_096,
            }
        );
        var (acceptedWhileFull, outcome, resumed) = (0, "", TimeSpan.Zero);
        using var full = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);

        await load.RunAsync(cancellationToken, until: FillAsync());
        var verdicts = await bench.SettleAsync(cancellationToken);

        bench.Conclude(
            verdicts,
            $"{load.Acknowledged:N0} at 200/s; the volume of {owner} full for {Full.TotalSeconds:0} s",
            string.Create(
                CultureInfo.InvariantCulture,
                $"accepted meanwhile {acceptedWhileFull}, refused with "
                    + $"{string.Join(", ", load.Codes.Select(entry => $"{entry.Key} × {entry.Value}"))}; {outcome}, messages were "
                    + $"accepted again {resumed.TotalSeconds:0.0} s after there was space"
            )
        );
        Assert.Multiple(() =>
        {
            Assert.That(bench.Farm.Hosts[0].Starts, Is.EqualTo(1), "the host stayed up");
            Assert.That(resumed, Is.LessThan(Patience));
            if (code is null)
                Assert.That(acceptedWhileFull, Is.GreaterThan(1_000), "facts wait in the host");
            else
                Assert.That(load.Codes, Contains.Key(code));
        });

        async Task FillAsync()
        {
            await Task.Delay(Healthy, cancellationToken);
            var accepted = load.Acknowledged;
            full.CancelAfter(Full);
            await volume.KeepFullAsync(full.Token);
            acceptedWhileFull = load.Acknowledged - accepted;
            var freed = TimeProvider.System.GetTimestamp();
            outcome = await revive();
            for (accepted = load.Acknowledged; load.Acknowledged < accepted + 50; await Task.Delay(50, cancellationToken))
            {
                resumed = TimeProvider.System.GetElapsedTime(freed);
                Assert.That(
                    (bench.Farm.Hosts[0].Process.HasExited, resumed < 2 * Patience),
                    Is.EqualTo((false, true)),
                    $"{resumed} after there was space:\n{bench.Farm.Output}"
                );
            }

            resumed = TimeProvider.System.GetElapsedTime(freed);
        }
    }

    // A server may have ended for want of space: its operator starts it again, and nobody touches the host.
    private static async Task<string> ReviveAsync(FaultBench bench, string server, CancellationToken cancellationToken)
    {
        for (
            var started = TimeProvider.System.GetTimestamp();
            TimeProvider.System.GetElapsedTime(started) < TimeSpan.FromSeconds(15);
            await Task.Delay(200, cancellationToken)
        )
        {
            if (await IsAliveAsync(bench, server, cancellationToken))
                return "it went on";
        }

        await bench.Servers.KillAsync(server);
        await bench.Servers.StartAsync(server);
        return "it was started again";
    }

    private static async Task<bool> IsAliveAsync(FaultBench bench, string server, CancellationToken cancellationToken)
    {
        if (server == "rabbitmq")
            return await bench.Farm.Hosts[0].IsReadyAsync(cancellationToken);
        try
        {
            await using var command = bench.Database.CreateCommand("create table space (); drop table space");
            await command.ExecuteNonQueryAsync(cancellationToken);
            return true;
        }
        catch (NpgsqlException)
        {
            return false;
        }
    }

    private static BenchPlan Plan(string owner, PrivateServers? servers) =>
        new()
        {
            Case = $"T-OVL-4 ({owner})",
            Hosts = 1,
            Servers = servers,
            Sinks = async (_, folder) => [await HttpSink.StartAsync("web", folder, SinkPromises.None, BenchConfiguration.Parallel())],
        };
}
