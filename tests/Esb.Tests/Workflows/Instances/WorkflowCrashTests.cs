using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Topics;
using Esb.Core.Workflows;
using Esb.Tests.Fakes;

namespace Esb.Tests.Workflows.Instances;

/// <summary>The process ends at every commit, before it and after it: in the end everything has happened, and nothing twice.</summary>
[CancelAfter(300_000)]
public sealed class WorkflowCrashTests
{
    private const string Workflows = """
        { "fulfil": {
            "start": "orders.accepted", "correlate": { "order": { "jsonpath": "$.order" } },
            "steps": [
              { "publish": "stock.pick" },
              { "parallel": { "branches": {
                  "bill": [{ "receive": { "subscribe": "bills.paid", "match": { "order": { "jsonpath": "$.order" } }, "as": "bill" } }, { "publish": "out.bill" }],
                  "ship": [{ "receive": { "subscribe": "stock.picked", "match": { "order": { "jsonpath": "$.order" } }, "as": "ship" } }, { "delay": "1s" }, { "publish": "out.ship" }] } } },
              { "runWorkflow": "survey" },
              { "publish": "orders.done" } ] },
          "survey": { "steps": [{ "publish": "out.survey" }] } }
        """;

    private static readonly string[] Expected = ["orders.done", "out.bill", "out.ship", "out.survey", "stock.pick"];

    [Test]
    public async Task Every_effect_happens_whatever_commit_the_process_ends_at(
        [Range(1, 9)] int commit,
        [Values] bool after,
        CancellationToken cancellationToken
    )
    {
        await using var bench = new WorkflowBench(Workflows);
        await bench.StartAsync(cancellationToken);
        (bench.Gate.DiesAt, bench.Gate.DiesAfter) = (commit, after);
        var messages = new[]
        {
            WorkflowBench.Message("orders.accepted", """{"order":1}"""),
            WorkflowBench.Message("bills.paid", """{"order":1}"""),
            WorkflowBench.Message("stock.picked", """{"order":1}"""),
        };

        foreach (var message in messages)
            await SendUntilSettledAsync(bench, message, cancellationToken);
        for (var life = 0; life < 3 && !await HasEndedAsync(bench, cancellationToken); life++)
        {
            await bench.KillAsync();
            await bench.StartAsync(cancellationToken);
        }

        await Eventually.BecomesAsync(() => bench.Subjects.Order(StringComparer.Ordinal).SequenceEqual(Expected), cancellationToken);
        var instances = await bench.InstancesAsync(cancellationToken);
        using (Assert.EnterMultipleScope())
        {
            Assert.That(
                instances.Select(instance => (instance.Workflow, instance.State)).Order(),
                Is.EqualTo(new[] { ("fulfil", WorkflowState.Completed), ("survey", WorkflowState.Completed) })
            );
            foreach (var instance in instances)
            {
                var history = await bench.Store.HistoryAsync(instance.Id, 0, 100, cancellationToken);
                Assert.That(history.Select(line => line.Version), Is.EqualTo(Enumerable.Range(1, instance.Version)), "no gap");
            }
        }
    }

    // As the broker does: what is not acknowledged is delivered again, to the host that lives.
    private static async Task SendUntilSettledAsync(WorkflowBench bench, EsbMessage message, CancellationToken cancellationToken)
    {
        while (true)
        {
            try
            {
                await bench.SendAsync("fulfil", message, cancellationToken);
                Assert.That(bench.LastSettlement, Is.EqualTo(Settlement.Done));
                return;
            }
            catch (EsbException) when (bench.Gate.IsDead)
            {
                await bench.KillAsync();
                await bench.StartAsync(cancellationToken);
            }
        }
    }

    // Within the time of a claim or a lease; where the process ended meanwhile, another life goes on.
    private static async Task<bool> HasEndedAsync(WorkflowBench bench, CancellationToken cancellationToken)
    {
        while (!bench.Gate.IsDead)
        {
            if (bench.Subjects.Contains("orders.done"))
                return true;
            await Task.Delay(50, cancellationToken);
        }

        return false;
    }
}
