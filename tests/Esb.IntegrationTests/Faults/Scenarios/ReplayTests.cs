using Esb.IntegrationTests.EndToEnd;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Nemeses;
using Esb.IntegrationTests.Faults.Sinks;

namespace Esb.IntegrationTests.Faults.Scenarios;

/// <summary>Dead letters are sent again while the hosts that send them die: each one arrives or is still kept, and none twice.</summary>
[NonParallelizable, Property("Case", "T-RPL-1")]
public sealed class ReplayTests
{
    [Test, Category("Faults"), CancelAfter(400_000)]
    public async Task Replay_whose_hosts_are_killed_goes_on_and_loses_nothing(CancellationToken cancellationToken)
    {
        const int Letters = 2_000, Rate = 100;
        await using var bench = await FaultBench.StartAsync(
            new BenchPlan
            {
                Case = "T-RPL-1",
                Sinks = async (database, _) => [await SqlSink.CreateAsync("effects", database, SinkPromises.Once, BenchConfiguration.Parallel())],
            },
            cancellationToken);
        await bench.Database.QueryAsync<int>("alter table effects add constraint closed check (id = '') not valid", null, cancellationToken);
        using (var load = bench.Load(new LoadPlan { Messages = Letters, Rate = 500, LargestBody = 2_048 })) await load.RunAsync(cancellationToken);
        while ((await bench.Records.ReadKeptAsync("effects", cancellationToken)).Count < bench.Ledger.Acknowledged) await Task.Delay(200, cancellationToken);
        await bench.Database.QueryAsync<int>("alter table effects drop constraint closed", null, cancellationToken);

        var host = bench.Farm.Hosts[0];
        var (exitCode, _, error) = await CommandLine.RunAsync(
            host.Folder, cancellationToken, "dead-letters", "replay", "--endpoint", "effects", "--rate", $"{Rate}", "--reason", "mended", "--url", host.Process.Management.OriginalString);
        Assert.That(exitCode, Is.Zero, error);
        var nemesis = FaultBench.NewNemesis().Track(1, 4, [.. bench.Farm.Hosts.Select(each => (HostFaults.Kill(each), 2))]);
        await nemesis.RunAsync(cancellationToken);
        await bench.Farm.WaitForReadyAsync(cancellationToken);
        var verdicts = await bench.SettleAsync(cancellationToken, evidence => evidence with { Kept = new HashSet<Guid>(), TerminalStates = null });

        var open = (await bench.Records.ReadKeptAsync("effects", cancellationToken)).Count;
        bench.Conclude(verdicts, $"{bench.Ledger.Acknowledged:N0} dead letters, {Rate}/s; kill -9 host × 4", $"{open} letters still open");
        Assert.That(open, Is.Zero);
    }
}
