using System.Diagnostics;
using System.Globalization;

namespace Esb.IntegrationTests.Faults.Workflows;

/// <summary>Instances are found beside very many that have ended: ten million in <c>./test workflows</c>, or as many as
/// <c>ESB_WORKFLOWS_ENDED</c> says.</summary>
[NonParallelizable, Category("Workflows"), Category("Thorough")]
public sealed class EndedWorkflowTests
{
    private const int Living = 500;
    private const int Suspended = 20;
    private const int Rounds = 20;
    private const int RowsAtOnce = 250_000;
    private const int MostRowsRead = 2_000; // for a question, on average: one that reads all of 100,000 is found

    private static readonly TimeSpan Longest = TimeSpan.FromMilliseconds(100);

    [Test, CancelAfter(3_600_000)]
    public async Task Instances_are_found_beside_those_that_have_ended(CancellationToken cancellationToken)
    {
        var ended = Size();
        await using var bench = await WorkflowBench.StartAsync(cancellationToken);
        bench.Configure(
            """
            {
              "fulfil": { "start": "orders.accepted", "steps": [{ "delay": "1000h" }] },
              "bill": { "steps": [{ "delay": "1000h" }] },
              "survey": { "steps": [{ "delay": "1000h" }] }
            }
            """
        );
        await bench.StartHostAsync(cancellationToken);
        await LoadAsync(bench, ended, cancellationToken);
        var middle = await bench.ReadAsync(
            "select id::text from workflow_instance where workflow = 'survey' and state = 'Compensated' and ended_at is not null",
            cancellationToken
        );
        var questions = Questions(ended, middle.Single());
        foreach (var (question, expected) in questions)
            Assert.That((await AskAsync(bench, question, cancellationToken)).Count, Is.EqualTo(expected), question);

        var before = await ReadRowsAsync(bench, cancellationToken);
        var slowest = new List<(string Question, TimeSpan Time)>();
        foreach (var (question, _) in questions)
        {
            var times = new List<TimeSpan>();
            for (var round = 0; round < Rounds; round++)
                times.Add((await AskAsync(bench, question, cancellationToken)).Time);
            slowest.Add((question, times.Max()));
            TestContext.Out.WriteLine(
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"{times.Order().ElementAt(Rounds / 2).TotalMilliseconds, 6:0.0} ms median, {times.Max().TotalMilliseconds, 6:0.0} ms "
                        + $"max  {question}"
                )
            );
        }

        var read = (await ReadRowsAsync(bench, cancellationToken) - before) / questions.Count / Rounds;
        var worst = slowest.MaxBy(one => one.Time);
        bench.Conclude(
            "workflows, search",
            string.Create(CultureInfo.InvariantCulture, $"{ended:N0} ended instances, {questions.Count} questions × {Rounds}"),
            string.Create(
                CultureInfo.InvariantCulture,
                $"at most {worst.Time.TotalMilliseconds:0} ms ({worst.Question}), {read} rows read for each"
            )
        );
        Assert.That(read, Is.LessThan(MostRowsRead), "one of them reads what has ended");
        if (WorkflowSize.IsFull)
            Assert.That(worst.Time, Is.LessThan(Longest), worst.Question);
    }

    // By state, name, key, age, step and code, alone and together, and from the middle on; with the number of instances in the answer.
    private static List<(string Question, int Expected)> Questions(int ended, string middle)
    {
        var week = Uri.EscapeDataString(TimeProvider.System.GetUtcNow().AddDays(-7).ToString("O", CultureInfo.InvariantCulture));
        return
        [
            ("", 50),
            ("state=completed", 50),
            ("state=terminated&limit=1000", Math.Min(1000, ended / 5_000)),
            ("state=compensated", 1),
            ("state=waiting&limit=1000", Living - Suspended),
            ("state=suspended", Suspended),
            ("state=running", 0),
            ("name=fulfil", 50),
            ("name=bill&state=completed", 50),
            ("name=bill&state=compensated", 0),
            ("name=survey&state=waiting&limit=1000", (Living - Suspended) / 3),
            ("name=nothing", 0),
            ("name=nothing&state=completed", 0),
            ($"key=order%3Do{ended / 3}", 1),
            ($"key=order%3Do{ended / 3}&state=waiting", 0),
            ("key=order%3Dnone", 0),
            ("code=LATE&limit=1000", Math.Min(1000, ended / 5_000)),
            ("code=SHOP", Suspended),
            ("code=none", 0),
            ("step=wait&limit=1000", Living - Suspended),
            ("step=none", 0),
            ("state=completed&step=wait", 0),
            ($"before={week}", 50),
            ($"before={week}&state=completed&name=fulfil", 50),
            ($"before={week}&state=compensated", 1),
            ($"after={middle}", 50),
            ($"after={middle}&state=completed", 50),
            ($"after={middle}&name=survey&state=completed", 50),
        ];
    }

    private static int Size() =>
        Environment.GetEnvironmentVariable("ESB_WORKFLOWS_ENDED") is { Length: > 0 } given ? int.Parse(given, CultureInfo.InvariantCulture)
        : WorkflowSize.IsFull ? 10_000_000
        : 100_000;

    private static async Task<(int Count, TimeSpan Time)> AskAsync(
        WorkflowBench bench,
        string question,
        CancellationToken cancellationToken
    )
    {
        var started = Stopwatch.GetTimestamp();
        var page = await bench.Host.AskAsync($"/api/workflows?{question}", cancellationToken);
        return (page.GetProperty("items").GetArrayLength(), Stopwatch.GetElapsedTime(started));
    }

    // Statistics are told once a second.
    private static async Task<long> ReadRowsAsync(WorkflowBench bench, CancellationToken cancellationToken)
    {
        var (last, now) = (-1L, 0L);
        while (last != now)
        {
            (last, now) = (
                now,
                await bench.CountAsync(
                    """
                    select sum(seq_tup_read) + (select sum(idx_tup_read) from pg_stat_user_indexes
                      where relname in ('workflow_instance', 'workflow_key'))
                    from pg_stat_user_tables where relname in ('workflow_instance', 'workflow_key')
                    """,
                    cancellationToken
                )
            );
            await Task.Delay(1_200, cancellationToken);
        }

        return now;
    }

    // Ended ones of four weeks, the last of an hour ago: one of 5,000 was terminated, one was undone. Beside them some from all times that
    // wait or are suspended.
    private static async Task LoadAsync(WorkflowBench bench, int ended, CancellationToken cancellationToken)
    {
        await InsertAsync(
            bench,
            Living,
            $"case when number < {Suspended} then 'Suspended' else 'Waiting' end",
            isEnded: false,
            cancellationToken
        );
        await InsertAsync(
            bench,
            ended,
            string.Create(
                CultureInfo.InvariantCulture,
                $"case when number % 5000 = 4999 then 'Terminated' when number = {ended / 2} then 'Compensated' else 'Completed' end"
            ),
            isEnded: true,
            cancellationToken
        );
        await bench.ExecuteAsync("vacuum analyze workflow_instance, workflow_key", cancellationToken); // as the server does by and by
    }

    private static async Task InsertAsync(WorkflowBench bench, int count, string state, bool isEnded, CancellationToken cancellationToken)
    {
        for (var first = 0; first < count; first += RowsAtOnce)
            await bench.ExecuteAsync(
                string.Create(
                    CultureInfo.InvariantCulture,
                    $$"""
                    with numbers as (
                      select number, '{{(isEnded ? 'o' : 'l')}}' || number as "order",
                        (array['fulfil', 'bill', 'survey'])[1 + number % 3] as workflow, {{state}} as state,
                        clock_timestamp() - interval '1 hour' - interval '28 days' * (1 - number::float8 / {{count}}) as at
                      from generate_series({{first}}, {{Math.Min(first + RowsAtOnce, count) - 1}}) as number),
                    made as (
                      select *, (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || left(md5("order"), 3) || '8'
                        || right(md5("order"), 15))::uuid as id from numbers),
                    instances as (
                      insert into workflow_instance (id, workflow, definition, version, state, step, snapshot, keys, started_by,
                        conversation_id, code, started_at, changed_at, ended_at)
                      select id, workflow, 'loaded', 2, state,
                        case state when 'Waiting' then 'wait' when 'Suspended' then 'pay' else '' end,
                        '{}'::bytea, 'order=' || "order", id, id, case state when 'Terminated' then 'LATE' when 'Suspended' then 'SHOP' end,
                        at, at, case when {{isEnded}} then at end
                      from made)
                    insert into workflow_key (hash, instance_id, exclusive, ended)
                    select left(encode(sha256(convert_to(workflow || chr(10) || 'order=' || length("order") || ':' || "order", 'UTF8')),
                      'hex'), 32), id, false, {{isEnded}} from made
                    """
                ),
                cancellationToken
            );
    }
}
