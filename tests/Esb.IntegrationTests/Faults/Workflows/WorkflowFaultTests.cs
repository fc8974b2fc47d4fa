using System.Globalization;

namespace Esb.IntegrationTests.Faults.Workflows;

/// <summary>Workflows of six steps go on, and have each effect once, whatever dies.</summary>
[NonParallelizable, Category("Workflows"), Category("Faults"), Category("WaitsLong")]
public sealed class WorkflowFaultTests
{
    private const int EffectsEach = 3;
    private const int PerSecond = 25;

    // Each publish, each end of a time and the transaction is followed by a checkpoint.
    private const string SixSteps = """
        {
          "six": {
            "start": "orders.accepted",
            "correlate": { "order": { "jsonpath": "$.order" } },
            "whenRunning": "ignore",
            "steps": [
              { "publish": "steps.first" },
              { "delay": "1s" },
              { "id": "note", "scope": { "transaction": "shop", "steps": [{ "call": "note" }] } },
              { "delay": "1s" },
              { "publish": "steps.second" },
              { "runWorkflow": "part" },
              { "publish": "steps.last" }
            ]
          },
          "part": { "steps": [{ "delay": "1s" }] }
        }
        """;

    /// <summary>T-WFL-1, with the database killed in the middle of each recovery.</summary>
    [Test, CancelAfter(2_400_000), Property("Case", "T-WFL-1")]
    public async Task Each_step_has_its_effect_once_while_host_and_database_are_killed(CancellationToken cancellationToken)
    {
        var (orders, kills, random) = (WorkflowSize.Of(5_000), WorkflowSize.Of(50), new Random(1));
        await using var bench = await StartAsync(cancellationToken);
        var sent = new WorkflowOrders(bench);

        var sending = sent.RunAsync(orders, PerSecond, cancellationToken);
        for (var kill = 0; kill < kills; kill++)
        {
            await Task.Delay(random.Next(3_000, 6_000), cancellationToken);
            await bench.KillHostAsync();
            bench.Launch();
            await Task.Delay(random.Next(3_000), cancellationToken);
            await bench.RestartDatabaseAsync();
            await bench.ReadyAsync(cancellationToken);
        }

        await sending;
        await AssertOnceAsync(bench, sent, cancellationToken);
        bench.Conclude("T-WFL-1", $"{sent.Accepted.Count:N0} workflows, kill -9 host × {kills} and database × {kills}", Outcome);
    }

    /// <summary>T-WFL-2: whether a commit has happened is not known again and again.</summary>
    [Test, CancelAfter(2_400_000), Property("Case", "T-WFL-2")]
    public async Task Each_step_has_its_effect_once_while_connections_to_the_database_are_reset(CancellationToken cancellationToken)
    {
        var (orders, resets, random) = (WorkflowSize.Of(5_000), WorkflowSize.Of(500), new Random(2));
        await using var bench = await WorkflowBench.StartAsync(cancellationToken);
        await using var proxy = await bench.ProxyDatabaseAsync();
        bench.Configure(SixSteps);
        await bench.StartHostAsync(cancellationToken);
        var sent = new WorkflowOrders(bench);

        var sending = sent.RunAsync(orders, PerSecond, cancellationToken);
        for (var reset = 0; reset < resets; reset++)
        {
            await Task.Delay(random.Next(50, 600), cancellationToken);
            await proxy.ResetAsync();
            await Task.Delay(random.Next(50), cancellationToken);
            await proxy.HealAsync();
        }

        await sending;
        await AssertOnceAsync(bench, sent, cancellationToken);
        bench.Conclude("T-WFL-2", $"{sent.Accepted.Count:N0} workflows, connections to the database reset × {resets}", Outcome);
    }

    /// <summary>The database is away for a minute in the middle of a thousand instances.</summary>
    [Test, CancelAfter(1_200_000)]
    public async Task Each_step_has_its_effect_once_although_the_database_is_away_for_a_time(CancellationToken cancellationToken)
    {
        var (orders, away) = (WorkflowSize.Of(1_000), TimeSpan.FromSeconds(WorkflowSize.Of(60)));
        await using var bench = await StartAsync(cancellationToken);
        var sent = new WorkflowOrders(bench);

        var sending = sent.RunAsync(orders, PerSecond, cancellationToken);
        await bench.WaitAsync("select count(*) > 10 from workflow_instance where ended_at is null", expected: 1, cancellationToken);
        await bench.TakeDatabaseAwayAsync(away, cancellationToken);

        await sending;
        await AssertOnceAsync(bench, sent, cancellationToken);
        bench.Conclude("workflows, store away", $"{sent.Accepted.Count:N0} workflows, database away for {away.TotalSeconds:0} s", Outcome);
    }

    private const string Outcome = "stranded 0, doubled 0, gaps in histories 0";

    private static async Task<WorkflowBench> StartAsync(CancellationToken cancellationToken)
    {
        var bench = await WorkflowBench.StartAsync(cancellationToken);
        bench.Configure(SixSteps);
        await bench.StartHostAsync(cancellationToken);
        return bench;
    }

    private static async Task AssertOnceAsync(WorkflowBench bench, WorkflowOrders sent, CancellationToken cancellationToken)
    {
        // Orders whose answer was lost may have started: they end like all others.
        await bench.WaitAsync("select count(*) from workflow_instance where ended_at is null", 0, cancellationToken);
        await bench.WaitAsync(
            $"select (select count(*) from workflow_instance where workflow = 'six') * {EffectsEach} - count(*) from effects",
            0,
            cancellationToken
        );
        var started = await bench.ReadAsync(
            "select distinct order_id from effects where step = 'steps.first' order by order_id",
            cancellationToken
        );
        var uneven = await bench.ReadAsync(
            string.Create(
                CultureInfo.InvariantCulture,
                $"""
                select order_id from effects group by order_id having count(*) <> {EffectsEach} or count(distinct step) <> {EffectsEach}
                union all select order_id from notes group by order_id having count(*) <> 1
                """
            ),
            cancellationToken
        );
        Assert.Multiple(async () =>
        {
            Assert.That(sent.Accepted.Except(started), Is.Empty, "stranded");
            Assert.That(uneven, Is.Empty, "an effect is missing or doubled");
            Assert.That(
                await bench.CountAsync("select count(*) from notes", cancellationToken),
                Is.EqualTo(await bench.CountAsync("select count(*) from workflow_instance where workflow = 'six'", cancellationToken))
            );
            Assert.That(
                await bench.CountAsync("select count(*) from workflow_instance where state <> 'Completed'", cancellationToken),
                Is.Zero
            );
            Assert.That(await bench.CountGapsAsync(cancellationToken), Is.Zero, "gaps in histories");
        });
    }
}
