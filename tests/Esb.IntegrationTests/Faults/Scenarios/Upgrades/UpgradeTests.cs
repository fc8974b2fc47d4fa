using System.Globalization;
using Dapper;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Farm;

namespace Esb.IntegrationTests.Faults.Scenarios.Upgrades;

/// <summary>The release before and this one, beside and after one another, under load.</summary>
[NonParallelizable, Category("Upgrades")]
public sealed class UpgradeTests
{
    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(20);
    private static readonly TimeSpan LongPause = TimeSpan.FromMinutes(3); // of hosts of both releases where there is no way back

    // ESB_UPGRADE_RESTARTS sets another number.
    private static readonly int Restarts = Environment.GetEnvironmentVariable("ESB_UPGRADE_RESTARTS") is { Length: > 0 } value
        ? int.Parse(value, CultureInfo.InvariantCulture)
        : 30;

    [Test, Category("Faults"), CancelAfter(1_800_000), Property("Case", "T-UPG-1")]
    public async Task Hosts_of_two_releases_side_by_side_lose_double_and_reorder_nothing(CancellationToken cancellationToken)
    {
        var earlier = await EarlierRelease.GetAsync();
        await using var bench = await UpgradeBench.StartAsync("T-UPG-1", earlier, cancellationToken);
        using var load = bench.Load(UpgradeBench.Load);
        var (restarts, mixed, exitCodes) = (0, 0, new List<int>());

        await bench.RunAsync(
            faults => load.RunAsync(cancellationToken, until: faults),
            async token =>
            {
                var before = await EarlierRelease.ReadStoreVersionAsync(bench);
                var isOneWay = false; // the release before would refuse the store
                for (
                    var number = 0;
                    number < Restarts && !(isOneWay && ProgramsOf(bench) is [var only] && only == Repository.Host);
                    number++
                )
                {
                    await Task.Delay(isOneWay ? LongPause : Pause, token);
                    var host = bench.Farm.Hosts[number % bench.Farm.Hosts.Count];
                    exitCodes.Add((await host.StopAsync(token)).ExitCode);
                    host.Program = host.Program == earlier.Program ? Repository.Host : earlier.Program;
                    await StartAsync(host, token);
                    restarts++;
                    mixed += ProgramsOf(bench).Count - 1;
                    isOneWay = await EarlierRelease.ReadStoreVersionAsync(bench) > before;
                }
            },
            cancellationToken
        );

        await UpgradeBench.ConcludeAsync(
            bench,
            $"{load.Acknowledged:N0}, 100 keys, {UpgradeBench.Load.Rate}/s, 2 hosts; each in turn restarted × {restarts} with the "
                + "other release",
            $"hosts of both releases after {mixed} of the restarts",
            cancellationToken
        );
        Assert.That(exitCodes, Is.All.Zero, "exit codes");
        Assert.That(mixed, Is.Positive);
    }

    [Test, Category("Faults"), CancelAfter(900_000), Property("Case", "T-UPG-2")]
    public async Task Upgrade_that_is_taken_back_loses_doubles_and_reorders_nothing(CancellationToken cancellationToken)
    {
        const int Rounds = 3;
        var earlier = await EarlierRelease.GetAsync();
        await using var bench = await UpgradeBench.StartAsync("T-UPG-2", earlier, cancellationToken);
        using var load = bench.Load(UpgradeBench.Load);
        var (takenBack, refused) = (0, 0);

        await bench.RunAsync(
            faults => load.RunAsync(cancellationToken, until: faults),
            async token =>
            {
                var before = await EarlierRelease.ReadStoreVersionAsync(bench);
                for (var round = 0; round < Rounds; round++)
                {
                    await ChangeAsync(bench.Farm, Repository.Host, token);
                    await StopAsync(bench.Farm, token);
                    if (await EarlierRelease.ReadStoreVersionAsync(bench) > before)
                        refused += await RefuseAsync(bench.Farm.Hosts[0], earlier, token);
                    else
                        takenBack++;
                    await ChangeAsync(bench.Farm, refused > 0 ? Repository.Host : earlier.Program, token);
                }

                // A store that a release to come has changed.
                await StopAsync(bench.Farm, token);
                await ExecuteAsync(bench, "insert into esb.schema_version (number, name) values (9999, 'of a release to come')");
                refused += await RefuseAsync(bench.Farm.Hosts[0], earlier, token);
                await ExecuteAsync(bench, "delete from esb.schema_version where number = 9999");
                await ChangeAsync(bench.Farm, Repository.Host, token);
            },
            cancellationToken
        );

        await UpgradeBench.ConcludeAsync(
            bench,
            $"{load.Acknowledged:N0}, 100 keys, {UpgradeBench.Load.Rate}/s, 2 hosts; all stopped, and started with this release and with the "
                + $"one before × {Rounds}",
            $"taken back × {takenBack}, refused by the release before × {refused}",
            cancellationToken
        );
    }

    private static List<string> ProgramsOf(FaultBench bench) => [.. bench.Farm.Hosts.Select(host => host.Program).Distinct()];

    private static async Task ChangeAsync(HostFarm farm, string program, CancellationToken cancellationToken)
    {
        await StopAsync(farm, cancellationToken);
        foreach (var host in farm.Hosts)
            host.Program = program;
        await Task.WhenAll(farm.Hosts.Select(host => StartAsync(host, cancellationToken)));
        await Task.Delay(Pause / 2, cancellationToken);
    }

    private static async Task StopAsync(HostFarm farm, CancellationToken cancellationToken)
    {
        var stopped = await Task.WhenAll(farm.Hosts.Where(host => host.IsStarted).Select(host => host.StopAsync(cancellationToken)));
        Assert.That(stopped.Select(end => end.ExitCode), Is.All.Zero, "exit codes");
    }

    private static Task StartAsync(FarmHost host, CancellationToken cancellationToken)
    {
        host.Start();
        return host.WaitForReadyAsync(cancellationToken);
    }

    // It says why and ends, and has touched nothing by then.
    private static async Task<int> RefuseAsync(FarmHost host, EarlierRelease earlier, CancellationToken cancellationToken)
    {
        host.Program = earlier.Program;
        host.Start();
        var exitCode = await host.Process.WaitForExitAsync(cancellationToken);
        var output = host.Process.Output;
        await host.ForgetAsync();
        Assert.That(exitCode, Is.Not.Zero);
        Assert.That(output, Does.Contain("ESB-STORE-VERSION"));
        return 1;
    }

    private static async Task ExecuteAsync(FaultBench bench, string sql)
    {
        await using var connection = await bench.Database.OpenConnectionAsync();
        await connection.ExecuteAsync(sql);
    }
}
