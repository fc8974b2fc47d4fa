using System.Text.Json.Nodes;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Ledgers;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Sinks;
using Microsoft.AspNetCore.Http;

namespace Esb.IntegrationTests.Faults.Scenarios;

/// <summary>Messages that kill the process: the host dies the moment one of them reaches the outside.</summary>
[NonParallelizable, Category("Paced"), Property("Case", "T-POI-2")]
public sealed class CrashPoisonTests
{
    private const int Messages = 5_000;
    private const int Poisons = 20;

    [Test, Category("Faults"), CancelAfter(1_200_000)]
    public async Task Messages_that_kill_the_process_are_given_up_and_their_neighbours_go_on(CancellationToken cancellationToken)
    {
        await using var bench = await FaultBench.StartAsync(
            new BenchPlan
            {
                Case = "T-POI-2",
                Hosts = 1,
                Sinks = async (_, folder) => [await HttpSink.StartAsync("web", folder, SinkPromises.None, Settings())],
            },
            cancellationToken
        );
        var host = bench.Farm.Hosts[0];
        var poisons = new TaskCompletionSource<IReadOnlySet<string>>();
        ((HttpSink)bench.Sinks[0]).Refusal = async (id, aborted) =>
        {
            if (!(await poisons.Task).Contains(id))
                return null;
            host.Process.Kill();
            await Task.Delay(Timeout.Infinite, aborted).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            return TypedResults.InternalServerError();
        };
        using var load = bench.Load(
            new LoadPlan
            {
                Messages = Messages,
                Rate = 100_000,
                LargestBody = 2_048,
            }
        );
        await load.RunAsync(cancellationToken);
        poisons.SetResult(ChoosePoisons(bench.Ledger));

        await RunToTheEndAsync(bench, cancellationToken);
        var deaths = host.Starts - 1;
        using var later = bench.Load(
            new LoadPlan
            {
                Messages = 3_000,
                KeyPrefix = "later",
                Rate = 50,
                LargestBody = 2_048,
            }
        );
        await later.RunAsync(cancellationToken);
        var verdicts = await bench.SettleAsync(cancellationToken);

        var codes = await bench.Database.QueryAsync<string>("select distinct code from esb.dead_letter", null, cancellationToken);
        bench.Conclude(
            verdicts,
            $"{Poisons} that kill the process among {Messages:N0}, prefetch 32; then 60 s at 50/s",
            $"{deaths} deaths, then none"
        );
        Assert.Multiple(() =>
        {
            Assert.That(codes, Is.EqualTo(["ESB-DELIVERY-CRASH"]));
            Assert.That(verdicts[0].Kept, Is.EqualTo(Poisons));
            Assert.That(deaths, Is.LessThanOrEqualTo(3 * Poisons));
            Assert.That((host.Process.HasExited, host.Starts - 1), Is.EqualTo((false, deaths)), "it is stable");
        });
    }

    // Starts the host again whenever it died, as a supervisor does, until every poison is given up and nothing waits.
    private static async Task RunToTheEndAsync(FaultBench bench, CancellationToken cancellationToken)
    {
        var host = bench.Farm.Hosts[0];
        for (var looks = 0; ; looks++)
        {
            if (host.Process.HasExited)
            {
                await host.ForgetAsync();
                host.Start();
            }
            else if (
                looks % 10 == 0
                && (await bench.Records.ReadKeptAsync("web", cancellationToken)).Count == Poisons
                && bench.Records.WaitingFor("web", await bench.Records.ReadQueuesAsync()) == 0
            )
            {
                return;
            }

            await Task.Delay(100, cancellationToken);
        }
    }

    private static HashSet<string> ChoosePoisons(SendLedger ledger)
    {
        var accepted = ledger
            .Messages.Where(message => message.Outcome == SendOutcome.Confirmed)
            .OrderBy(message => message.OutcomeAt)
            .ToList();
        return
        [
            .. Enumerable.Range(0, Poisons).Select(number => accepted[((number * accepted.Count) + (accepted.Count / 2)) / Poisons].Id),
        ];
    }

    private static JsonObject Settings()
    {
        var settings = BenchConfiguration.Parallel(poolSize: 8, processingThreads: 8);
        settings["prefetch"] = 32;
        settings["timeout"] = "2m"; // nothing arrives before all have been accepted
        return settings;
    }
}
