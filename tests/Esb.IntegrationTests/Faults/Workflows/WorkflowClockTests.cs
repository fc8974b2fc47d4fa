using System.Globalization;

namespace Esb.IntegrationTests.Faults.Workflows;

/// <summary>T-WFL-3: clocks that jump. Timers go by the clock of the database: that of a host neither fires one early nor holds one
/// up.</summary>
[NonParallelizable, Category("Workflows"), Category("Faults"), Category("Waits"), Property("Case", "T-WFL-3")]
public sealed class WorkflowClockTests
{
    private static readonly TimeSpan Day = TimeSpan.FromDays(1);

    // Two waits of the same time: a delay, and a message that does not come.
    private const string Waits = """
        {
          "delay": {
            "start": "orders.accepted",
            "correlate": { "order": { "jsonpath": "$.order" } },
            "steps": [{ "delay": "8s" }, { "publish": "steps.delayed" }]
          },
          "receive": {
            "start": "orders.accepted",
            "correlate": { "order": { "jsonpath": "$.order" } },
            "whenRunning": "fail",
            "steps": [
              {
                "receive": {
                  "subscribe": "orders.never",
                  "match": { "order": { "jsonpath": "$.order" } },
                  "timeout": "8s",
                  "onTimeout": [{ "publish": "steps.timed-out" }]
                }
              }
            ]
          }
        }
        """;

    [Test, CancelAfter(900_000)]
    public async Task Clock_of_a_host_that_jumps_fires_nothing_early_and_strands_nothing(CancellationToken cancellationToken)
    {
        const int Each = 10;
        TimeSpan[] jumps = [Day, -Day, TimeSpan.FromHours(1), TimeSpan.Zero];
        await using var bench = await WorkflowBench.StartWithClocksAsync(cancellationToken);
        bench.Configure(Waits);
        await bench.StartHostAsync(cancellationToken);
        var sent = new WorkflowOrders(bench);

        foreach (var (jump, number) in jumps.Select((jump, index) => (jump, index + 1)))
        {
            await sent.RunAsync(number * Each, perSecond: 100, cancellationToken);
            await bench.WaitAsync("select count(*) from workflow_instance", 2 * number * Each, cancellationToken);
            await bench.SetHostClockAsync(jump, cancellationToken);
            await bench.WaitAsync("select count(*) from effects", 2 * number * Each, cancellationToken);
        }

        await bench.WaitAsync("select count(*) from workflow_instance where ended_at is null", 0, cancellationToken);
        await AssertOnceAsync(bench, 2 * jumps.Length * Each, cancellationToken);
        var early = await bench.CountAsync(
            "select count(*) from workflow_instance where ended_at < started_at + interval '8 s'",
            cancellationToken
        );
        var latest = await bench.CountAsync(
            "select max(extract(epoch from ended_at - started_at)) - 8 from workflow_instance",
            cancellationToken
        );
        Assert.That(early, Is.Zero, "fired early");
        bench.Conclude(
            "T-WFL-3",
            $"{2 * jumps.Length * Each} timers; the clock of the host jumps {Shown(jumps)}",
            string.Create(CultureInfo.InvariantCulture, $"early 0, doubled 0, at most {latest} s late")
        );
    }

    [Test, CancelAfter(900_000)]
    public async Task Clock_of_the_database_that_jumps_fires_each_timer_once_and_strands_nothing(CancellationToken cancellationToken)
    {
        const int Each = 10;
        await using var bench = await WorkflowBench.StartWithClocksAsync(cancellationToken);
        bench.Configure(Waits.Replace("8s", "1h", StringComparison.Ordinal));
        await bench.StartHostAsync(cancellationToken);
        var sent = new WorkflowOrders(bench);

        await sent.RunAsync(Each, perSecond: 100, cancellationToken);
        await WaitingAsync(Each);
        await bench.SetDatabaseClockAsync(Day); // all are due at once
        await bench.WaitAsync("select count(*) from effects", 2 * Each, cancellationToken);

        // What a host has claimed, and has not done, while the clock was ahead.
        await sent.RunAsync(2 * Each, perSecond: 100, cancellationToken);
        await WaitingAsync(2 * Each);
        await bench.KillHostAsync();
        await bench.ExecuteAsync(
            "update timer set due_at = clock_timestamp() - interval '2 days', claimed_until = clock_timestamp() + interval '30 s'",
            cancellationToken
        );
        await bench.SetDatabaseClockAsync(TimeSpan.Zero);
        await bench.StartHostAsync(cancellationToken);
        await bench.WaitAsync("select count(*) from effects", 4 * Each, cancellationToken);

        await sent.RunAsync(3 * Each, perSecond: 100, cancellationToken);
        await WaitingAsync(3 * Each);
        await bench.SetDatabaseClockAsync(TimeSpan.FromMinutes(61)); // a leap of an hour
        await bench.WaitAsync("select count(*) from effects", 6 * Each, cancellationToken);

        await bench.WaitAsync("select count(*) from workflow_instance where ended_at is null", 0, cancellationToken);
        await AssertOnceAsync(bench, 6 * Each, cancellationToken);
        bench.Conclude(
            "T-WFL-3",
            $"{6 * Each} timers; the clock of the database jumps {Shown([Day, -Day, TimeSpan.FromHours(1)])}",
            "stranded 0, doubled 0"
        );

        Task WaitingAsync(int orders) =>
            bench.WaitAsync(
                $"select count(*) from workflow_instance where state in ('Waiting', 'Completed')",
                2 * orders,
                cancellationToken
            );
    }

    private static async Task AssertOnceAsync(WorkflowBench bench, int instances, CancellationToken cancellationToken)
    {
        var uneven = await bench.ReadAsync(
            "select order_id from effects group by order_id having count(*) <> 2 or count(distinct step) <> 2",
            cancellationToken
        );
        Assert.That(uneven, Is.Empty, "an effect is missing or doubled");
        Assert.That(
            await bench.CountAsync("select count(*) from workflow_instance where state = 'Completed'", cancellationToken),
            Is.EqualTo(instances)
        );
        Assert.That(await bench.CountGapsAsync(cancellationToken), Is.Zero, "gaps in histories");
    }

    private static string Shown(IEnumerable<TimeSpan> jumps) =>
        string.Join(", ", jumps.Select(jump => string.Create(CultureInfo.InvariantCulture, $"{jump.TotalHours:+0;-0;0} h")));
}
