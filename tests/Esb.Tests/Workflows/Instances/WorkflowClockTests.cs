using Esb.Core.Workflows;
using Esb.Tests.Fakes;

namespace Esb.Tests.Workflows.Instances;

/// <summary>T-WFL-3 on the embedded store, whose clock is that of the host: timers fire once, whatever the clock does.</summary>
[CancelAfter(60_000), Property("Case", "T-WFL-3")]
public sealed class WorkflowClockTests
{
    private const int Orders = 5;

    private static readonly TimeSpan Day = TimeSpan.FromDays(1);

    private const string Waits = """
        {
          "w": { "start": "orders.open", "steps": [
            { "delay": { "until": { "jsonpath": "$.at" } } },
            { "set": { "body": { "jsonpath": "$.order" } } },
            { "publish": "out.done" } ] },
          "short": { "start": "orders.open", "steps": [{ "delay": "1s" }, { "publish": "out.short" }] }
        }
        """;

    [Test]
    public async Task Clock_that_is_set_forward_and_back_and_leaps_an_hour_fires_each_timer_once(CancellationToken cancellationToken)
    {
        await using var bench = new WorkflowBench(Waits);
        await bench.StartAsync(cancellationToken);

        await SendAsync(first: 1);
        bench.Clock.Ahead = Day;
        await EndedAsync(Orders);

        await SendAsync(first: Orders + 1);
        bench.Clock.Ahead = TimeSpan.Zero; // what has just begun is due in more than a day
        await bench.SendAsync("short", WorkflowBench.Message("orders.open", "{}"), cancellationToken);
        await EndedAsync(Orders + 1); // and what begins now is not held up by it
        var waiting = (await bench.InstancesAsync(cancellationToken)).Count(instance => instance.State == WorkflowState.Waiting);
        bench.Clock.Ahead = Day + TimeSpan.FromHours(6);
        await EndedAsync((2 * Orders) + 1);

        await Eventually.BecomesAsync(() => bench.Published.Count >= (2 * Orders) + 1, cancellationToken);
        using (Assert.EnterMultipleScope())
        {
            Assert.That(waiting, Is.EqualTo(Orders), "none of them early");
            Assert.That(
                bench.Published.Where(message => message.Subject == "out.done").Select(message => message.Body.ReadText()),
                Is.EquivalentTo(Enumerable.Range(1, 2 * Orders).Select(order => $"{order}")),
                "each once"
            );
        }

        async Task SendAsync(int first)
        {
            for (var order = first; order < first + Orders; order++)
                await bench.SendAsync(
                    "w",
                    WorkflowBench.Message(
                        "orders.open",
                        $$"""{ "order": "{{order}}", "at": "{{bench.Clock.GetUtcNow().AddHours(order - first + 1):O}}" }"""
                    ),
                    cancellationToken
                );
            await bench.WaitForAsync(WorkflowState.Waiting, cancellationToken, Orders);
        }

        Task<WorkflowInstance> EndedAsync(int count) => bench.WaitForAsync(WorkflowState.Completed, cancellationToken, count);
    }
}
