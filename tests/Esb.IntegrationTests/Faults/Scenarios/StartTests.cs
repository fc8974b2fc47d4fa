using System.Text.Json.Nodes;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Nemeses;
using Esb.IntegrationTests.Faults.Sinks;

namespace Esb.IntegrationTests.Faults.Scenarios;

/// <summary>A host starts while what it needs is away: it waits, says so, and becomes ready by itself.</summary>
[NonParallelizable, Category("Waits"), Property("Case", "T-CFG-3")]
public sealed class StartTests
{
    private const string WrongPassword = "wrong password";
    private const string WrongDatabasePassword = "wrong database password";
    private const string Right = "right";

    private static readonly TimeSpan Away = TimeSpan.FromSeconds(20);
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(35);

    [TestCase("broker away"), TestCase("database away"), TestCase("both away"), TestCase(WrongPassword), TestCase(WrongDatabasePassword)]
    [Category("Faults"), CancelAfter(180_000)]
    public async Task Host_becomes_ready_once_what_it_needs_is_there(string trouble, CancellationToken cancellationToken)
    {
        await using var bench = await FaultBench.CreateAsync(
            new BenchPlan
            {
                Case = "T-CFG-3",
                Hosts = 1,
                Sinks = async (_, folder) => [await HttpSink.StartAsync("web", folder, SinkPromises.None, BenchConfiguration.Parallel())],
                // so that the database too is needed
                Configure = configuration => configuration["audit"] = new JsonObject { ["mode"] = "strict" },
            }
        );
        var host = bench.Farm.Hosts[0];
        if (trouble == WrongDatabasePassword)
            host.Set(BenchConfiguration.StoreVariable, await DatabasePassword.RequireAsync(bench, Right));

        await BreakAsync(bench, trouble);
        host.Start();
        var wasReady = await WatchAsync(host, Away, cancellationToken);
        await MendAsync(bench, trouble);
        var mended = TimeProvider.System.GetTimestamp();
        await host.WaitForReadyAsync(cancellationToken);
        var took = TimeProvider.System.GetElapsedTime(mended);
        using var load = bench.Load(new LoadPlan { Messages = 100, Rate = 100 });
        await load.RunAsync(cancellationToken);
        var verdicts = await bench.SettleAsync(cancellationToken);

        bench.Conclude(verdicts, $"{trouble} for {Away.TotalSeconds:0} s at the start", $"ready {took.TotalSeconds:0.0} s later");
        Assert.Multiple(() =>
        {
            Assert.That(wasReady, Is.False, "it said that it was ready");
            Assert.That(took, Is.LessThan(Limit));
            Assert.That(host.Starts, Is.EqualTo(1), "without a restart");
        });
    }

    private static async Task BreakAsync(FaultBench bench, string trouble)
    {
        if (trouble is "broker away" or "both away")
            await bench.Servers.StopAsync("rabbitmq");
        if (trouble is "database away" or "both away")
            await bench.Servers.StopAsync("postgres");
        if (trouble == WrongPassword)
            await bench.Servers.ControlRabbitMqAsync("change_password", "guest", "another");
        if (trouble == WrongDatabasePassword)
            await DatabasePassword.ChangeAsync(bench, "another");
    }

    private static async Task MendAsync(FaultBench bench, string trouble)
    {
        if (trouble is "broker away" or "both away")
            await bench.Servers.StartAsync("rabbitmq");
        if (trouble is "database away" or "both away")
            await bench.Servers.StartAsync("postgres");
        if (trouble == WrongPassword)
            await bench.Servers.ControlRabbitMqAsync("change_password", "guest", "guest");
        if (trouble == WrongDatabasePassword)
            await DatabasePassword.ChangeAsync(bench, Right);
    }

    // Whether the host was ready at any time.
    private static async Task<bool> WatchAsync(Farm.FarmHost host, TimeSpan time, CancellationToken cancellationToken)
    {
        var started = TimeProvider.System.GetTimestamp();
        while (TimeProvider.System.GetElapsedTime(started) < time)
        {
            if (await host.IsReadyAsync(cancellationToken))
                return true;
            await Task.Delay(200, cancellationToken);
        }

        return false;
    }
}
