using System.Globalization;
using Esb.IntegrationTests.Faults.Results;

namespace Esb.IntegrationTests.Faults.Workflows;

/// <summary>Many instances sleep: they cost little, are there at once after a crash, wake when it is time, and each as it began.</summary>
[NonParallelizable, Category("Workflows"), Category("Faults"), Category("Alone")]
public sealed class SleepingWorkflowTests
{
    private const int MostMegabytes = 50;
    private const double MostCores = 0.03;
    private const int FewestPerSecond = 2_000;

    private static readonly TimeSpan LongestStart = TimeSpan.FromSeconds(5);

    // In the first two minutes the runtime compiles anew what has run often.
    private static readonly TimeSpan Compiling = TimeSpan.FromMinutes(2);

    private static readonly TimeSpan Idle = TimeSpan.FromSeconds(60);

    /// <summary>T-WFL-4, and timers that fire beside a million that do not.</summary>
    [Test, CancelAfter(2_400_000), Property("Case", "T-WFL-4")]
    public async Task Sleeping_instances_cost_little_and_wake_when_it_is_time(CancellationToken cancellationToken)
    {
        var (sleeping, woken) = (WorkflowSize.Of(1_000_000), WorkflowSize.Of(100_000));
        await using var bench = await StartAsync(cancellationToken);
        var without = await SettledMegabytesAsync(bench, cancellationToken);
        var before = await IdleAsync(bench, cancellationToken);
        await SleepAsync(bench, sleeping, cancellationToken);
        await bench.KillHostAsync();

        var ready = await bench.StartHostAsync(cancellationToken);
        var with = await SettledMegabytesAsync(bench, cancellationToken);
        var after = await IdleAsync(bench, cancellationToken);
        await WakeAsync(bench, "due", woken, within: TimeSpan.FromSeconds(2), cancellationToken);
        await bench.WaitAsync("select count(*) from effects", woken, cancellationToken);
        var paced = WorkflowSize.Of(20_000);
        await WakeAsync(bench, "paced", paced, within: TimeSpan.FromSeconds(20), cancellationToken);
        await bench.WaitAsync("select count(*) from effects", woken + paced, cancellationToken);

        var early = await bench.CountAsync(
            """
            select count(*) from workflow_instance i join (table due union all table paced) d on d.instance = i.id
            where i.ended_at < d.at
            """,
            cancellationToken
        );
        var rate = await bench.CountAsync(
            """
            select count(*) / extract(epoch from max(i.ended_at) - min(d.at)) from workflow_instance i join due d on d.instance = i.id
            """,
            cancellationToken
        );
        var late = await bench.CountAsync(
            """
            select 1000 * percentile_cont(0.99) within group (order by extract(epoch from i.ended_at - d.at))
            from workflow_instance i join paced d on d.instance = i.id
            """,
            cancellationToken
        );
        bench.Conclude(
            "T-WFL-4",
            $"{sleeping:N0} sleeping instances, {woken:N0} of them woken at once, {paced:N0} at {paced / 20:N0}/s",
            string.Create(
                CultureInfo.InvariantCulture,
                $"ready {ready.TotalSeconds:0.0} s after kill -9, memory {with - without:+0;-0} MB, "
                    + $"idle {before.Host:0.000} cores before and {after.Host:0.000} with them, "
                    + $"woken {rate:N0}/s, early {early}; at the pace p99 {late} ms late"
            )
        );
        Assert.Multiple(() =>
        {
            Assert.That(early, Is.Zero);
            Assert.That(with - without, Is.LessThan(MostMegabytes), "megabytes");
            if (!WorkflowSize.IsFull)
                return; // a tenth is not what the goals are about
            Assert.That(after.Host, Is.LessThanOrEqualTo(MostCores), "cores of the idle host");
            Assert.That(ready, Is.LessThanOrEqualTo(LongestStart), "until the host is ready after kill -9");
            Assert.That(rate, Is.GreaterThanOrEqualTo(FewestPerSecond), "woken in a second");
        });
    }

    /// <summary>Instances that sleep while another version of their workflow comes.</summary>
    [Test, CancelAfter(1_200_000)]
    public async Task Each_instance_ends_on_the_version_on_which_it_began(CancellationToken cancellationToken)
    {
        var sleeping = WorkflowSize.Of(10_000);
        await using var bench = await StartAsync(cancellationToken);
        await SleepAsync(bench, sleeping, cancellationToken);
        bench.Configure(Workflow("steps.second-version"));
        await bench.Host.TellAsync("/api/configuration/reload", cancellationToken);
        var newer = new WorkflowOrders(bench);
        await newer.RunAsync(10, perSecond: 100, cancellationToken);
        await bench.WaitAsync("select count(distinct definition) from workflow_instance", 2, cancellationToken);

        await bench.KillHostAsync();
        await bench.StartHostAsync(cancellationToken);
        await bench.ExecuteAsync("update timer set due_at = clock_timestamp() where kind = 'workflow.wait'", cancellationToken);

        await bench.WaitAsync("select count(*) from effects where step = 'steps.woken'", sleeping + 1, cancellationToken);
        await bench.WaitAsync("select count(*) from effects where step = 'steps.second-version'", 10, cancellationToken);
        Assert.That(await bench.CountGapsAsync(cancellationToken), Is.Zero, "gaps in histories");
        bench.Conclude("T-WFL-4", $"{sleeping:N0} sleeping instances of version 1 while version 2 comes", "each ended on its own");
    }

    private static string Workflow(string subject) =>
        $$"""
            {
              "sleep": {
                "start": "orders.accepted",
                "correlate": { "order": { "jsonpath": "$.order" } },
                "steps": [{ "delay": "1000h" }, { "publish": "{{subject}}" }]
              }
            }
            """;

    private static async Task<WorkflowBench> StartAsync(CancellationToken cancellationToken)
    {
        var bench = await WorkflowBench.StartAsync(cancellationToken);
        bench.Configure(Workflow("steps.woken"));
        await bench.StartHostAsync(cancellationToken);
        return bench;
    }

    // One instance begins; the others are copies of its rows.
    private static async Task SleepAsync(WorkflowBench bench, int instances, CancellationToken cancellationToken)
    {
        await new WorkflowOrders(bench).RunAsync(1, perSecond: 100, cancellationToken);
        await bench.WaitAsync("select count(*) from workflow_instance where state = 'Waiting'", 1, cancellationToken);
        await bench.ExecuteAsync(
            string.Create(
                CultureInfo.InvariantCulture,
                $"""
                create table copy as select gen_random_uuid() as id, gen_random_uuid() as timer from generate_series(1, {instances});
                insert into workflow_instance (id, workflow, definition, version, state, step, snapshot, keys, started_by, conversation_id)
                  select copy.id, workflow, definition, version, state, step,
                    convert_to(replace(convert_from(snapshot, 'UTF8'), timer.id::text, copy.timer::text), 'UTF8'),
                    keys, started_by, conversation_id
                  from workflow_instance, timer, copy where timer.target = workflow_instance.id::text;
                insert into workflow_event (instance_id, version, state, steps)
                  select copy.id, version, state, steps from workflow_event, copy;
                insert into workflow_key (hash, instance_id, exclusive)
                  select md5(copy.id::text), copy.id, exclusive from workflow_key, copy;
                insert into timer (id, kind, target, due_at, data)
                  select copy.timer, kind, copy.id::text, due_at + random() * interval '30 days', data from timer, copy
                  where kind = 'workflow.wait';
                insert into workflow_tally (workflow, state, change) values ('sleep', 'Waiting', {instances});
                analyze
                """
            ),
            cancellationToken
        );
    }

    // Due from five seconds on, within a time.
    private static Task WakeAsync(WorkflowBench bench, string table, int instances, TimeSpan within, CancellationToken cancellationToken) =>
        bench.ExecuteAsync(
            string.Create(
                CultureInfo.InvariantCulture,
                $"""
                create table {table} as select id as timer, target::uuid as instance,
                  clock_timestamp() + interval '5 s' + random() * interval '{within.TotalSeconds} s' as at
                  from timer where kind = 'workflow.wait' limit {instances};
                update timer set due_at = {table}.at from {table} where {table}.timer = timer.id
                """
            ),
            cancellationToken
        );

    private static async Task<ProcessorUse> IdleAsync(WorkflowBench bench, CancellationToken cancellationToken)
    {
        await Task.Delay(Compiling, cancellationToken);
        var end = ProcessorUse.Begin(bench.Host.Id);
        await Task.Delay(Idle, cancellationToken);
        return end();
    }

    private static async Task<double> SettledMegabytesAsync(WorkflowBench bench, CancellationToken cancellationToken)
    {
        await Task.Delay(TimeSpan.FromSeconds(10), cancellationToken);
        using var process = System.Diagnostics.Process.GetProcessById(bench.Host.Id);
        return process.WorkingSet64 / 1024.0 / 1024.0;
    }
}
