using System.Text.Json.Nodes;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Sinks;

namespace Esb.IntegrationTests.Faults.Scenarios;

/// <summary>The broker loses patience with a delivery before the endpoint does.</summary>
[NonParallelizable, Category("Waits"), Property("Case", "T-TMO-1")]
public sealed class AckTimeoutTests
{
    private const string Stuck = "k0-1";

    [Test, Category("Faults"), CancelAfter(600_000)]
    public async Task Delivery_that_outlives_the_acknowledgement_timeout_holds_up_no_other(CancellationToken cancellationToken)
    {
        await using var bench = await FaultBench.CreateAsync(new BenchPlan
        {
            Case = "T-TMO-1",
            Hosts = 1,
            Sinks = async (_, folder) => [await HttpSink.StartAsync("web", folder, SinkPromises.None, Settings())],
        });
        await bench.Servers.ControlRabbitMqAsync("eval", "application:set_env(rabbit, consumer_timeout, 60000).");
        try
        {
            await bench.Farm.StartAsync(cancellationToken);
            var sink = (HttpSink)bench.Sinks[0];
            var stuckTries = 0;
            sink.Refusal = async (id, _) =>
            {
                if (id == Stuck && Interlocked.Increment(ref stuckTries) == 1) await Task.Delay(TimeSpan.FromSeconds(150), cancellationToken);
                return null;
            };
            using var load = bench.Load(new LoadPlan { Messages = 201, Rate = 100, Keys = 1, LargestBody = 2_048 });
            await load.RunAsync(cancellationToken);
            await WaitForAsync(() => sink.Attempts.Select(attempt => attempt.Id).Distinct().Count() >= 201, cancellationToken);
            await Task.Delay(TimeSpan.FromSeconds(160), cancellationToken); // the broker has closed the channel by then, and the first attempt has ended

            using var more = bench.Load(new LoadPlan { Messages = 50, Rate = 50, Keys = 1, KeyPrefix = "later", LargestBody = 2_048 });
            await more.RunAsync(cancellationToken);
            var verdicts = await bench.SettleAsync(cancellationToken);

            bench.Conclude(verdicts, "201, one of them takes 150 s; acknowledgement time-out 60 s", $"the stuck one was tried × {stuckTries}");
        }
        finally
        {
            await bench.Servers.ControlRabbitMqAsync("eval", "application:set_env(rabbit, consumer_timeout, 1800000).");
        }
    }

    private static JsonObject Settings()
    {
        var settings = BenchConfiguration.Parallel(poolSize: 8, processingThreads: 8);
        settings["timeout"] = "5m";
        return settings;
    }

    private static async Task WaitForAsync(Func<bool> condition, CancellationToken cancellationToken)
    {
        while (!condition()) await Task.Delay(100, cancellationToken);
    }
}
