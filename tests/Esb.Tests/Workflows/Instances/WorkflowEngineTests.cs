using Esb.Core.Audit;
using Esb.Core.Messages;
using Esb.Core.Topics;
using Esb.Core.Workflows;
using Esb.Tests.Fakes;

namespace Esb.Tests.Workflows.Instances;

/// <summary>What instances do with messages and times, on the embedded store.</summary>
[CancelAfter(60_000)]
public sealed class WorkflowEngineTests
{
    private WorkflowBench _bench = null!;

    [TearDown]
    public async Task Stop() => await _bench.DisposeAsync();

    [Test]
    public async Task Instance_waits_for_the_message_with_its_key_and_ends(CancellationToken cancellationToken)
    {
        await StartAsync(Fulfilment(), cancellationToken);
        await SendAsync("orders.accepted", """{ "order": "1" }""", cancellationToken);
        await SendAsync("orders.accepted", """{ "order": "2" }""", cancellationToken);
        await _bench.WaitForAsync(WorkflowState.Waiting, cancellationToken, count: 2);

        await SendAsync("stock.picked", """{ "order": "2", "by": "Ann" }""", cancellationToken);

        var ended = await _bench.WaitForAsync(WorkflowState.Completed, cancellationToken);
        await Eventually.BecomesAsync(() => _bench.Subjects.Contains("orders.shipped"), cancellationToken);
        var history = await _bench.Store.HistoryAsync(ended.Id, 0, 100, cancellationToken);
        using (Assert.EnterMultipleScope())
        {
            Assert.That(ended.Keys, Is.EqualTo("order=2"));
            Assert.That((await _bench.InstancesAsync(cancellationToken)).Count(one => one.State == WorkflowState.Waiting), Is.EqualTo(1));
            Assert.That(_bench.Published.Last().Body.ReadText(), Is.EqualTo("picked by Ann for 2"));
            Assert.That(history.Select(line => line.Version), Is.EqualTo(Enumerable.Range(1, history.Count)), "no gap");
        }
    }

    [Test]
    public async Task Message_that_comes_a_second_time_has_no_second_effect(CancellationToken cancellationToken)
    {
        await StartAsync(Fulfilment(), cancellationToken);
        var order = WorkflowBench.Message("orders.accepted", """{ "order": "1" }""");
        var picked = WorkflowBench.Message("stock.picked", """{ "order": "1", "by": "Ann" }""");
        foreach (var message in new[] { order, order, picked, picked })
            await _bench.SendAsync("fulfil", message, cancellationToken);

        await _bench.WaitForAsync(WorkflowState.Completed, cancellationToken);
        Assert.That(await _bench.InstancesAsync(cancellationToken), Has.Count.EqualTo(1));
        Assert.That(_bench.Audit.Facts.Count(fact => fact.Kind == AuditKind.Duplicate), Is.EqualTo(2));
    }

    [Test]
    public async Task Message_that_comes_before_the_wait_is_taken_when_it_begins(CancellationToken cancellationToken)
    {
        await StartAsync(Fulfilment(), cancellationToken);
        await SendAsync("stock.picked", """{ "order": "1", "by": "Ann" }""", cancellationToken);
        await SendAsync("orders.accepted", """{ "order": "1" }""", cancellationToken);

        await _bench.WaitForAsync(WorkflowState.Completed, cancellationToken);
        await Eventually.BecomesAsync(() => _bench.Subjects.Contains("orders.shipped"), cancellationToken);
    }

    [Test]
    public async Task Second_start_with_the_same_keys_is_a_dead_letter(CancellationToken cancellationToken)
    {
        await StartAsync(Fulfilment(), cancellationToken);
        await SendAsync("orders.accepted", """{ "order": "1" }""", cancellationToken);
        await SendAsync("orders.accepted", """{ "order": "1" }""", cancellationToken);

        Assert.That((_bench.LastSettlement as Settlement.Divert)?.Letter.Code, Is.EqualTo("ESB-WFL-RUNNING"));
    }

    [Test]
    public async Task Start_without_a_value_for_its_key_is_a_dead_letter(CancellationToken cancellationToken)
    {
        await StartAsync(Fulfilment(), cancellationToken);
        await SendAsync("orders.accepted", """{ }""", cancellationToken);

        Assert.That((_bench.LastSettlement as Settlement.Divert)?.Letter.Code, Is.EqualTo("ESB-WFL-KEY"));
    }

    [Test]
    public async Task Time_out_runs_its_steps_and_terminates(CancellationToken cancellationToken)
    {
        await StartAsync(Fulfilment("1s"), cancellationToken);
        await SendAsync("orders.accepted", """{ "order": "1" }""", cancellationToken);

        var ended = await _bench.WaitForAsync(WorkflowState.Terminated, cancellationToken);
        await Eventually.BecomesAsync(() => _bench.Subjects.Contains("orders.late"), cancellationToken);
        Assert.That(ended.Reason, Is.EqualTo("late 1"));
    }

    [Test]
    public async Task Convoy_takes_further_messages_and_starts_anew_behind_the_end(CancellationToken cancellationToken)
    {
        await StartAsync(
            """
            { "convoy": {
                "start": "orders.item", "correlate": { "customer": { "jsonpath": "$.customer" } }, "whenRunning": "deliver",
                "steps": [
                  { "receive": { "subscribe": "orders.item", "match": { "customer": { "jsonpath": "$.customer" } }, "as": "second" } },
                  { "set": { "body": { "template": "two" } } }, { "publish": "out.pair" } ] } }
            """,
            cancellationToken
        );
        for (var i = 0; i < 6; i++)
            await _bench.SendAsync("convoy", WorkflowBench.Message("orders.item", """{ "customer": "a" }"""), cancellationToken);

        await _bench.WaitForAsync(WorkflowState.Completed, cancellationToken, count: 3);
        await Eventually.BecomesAsync(() => _bench.Subjects.Count(subject => subject == "out.pair") == 3, cancellationToken);
        Assert.That(await _bench.InstancesAsync(cancellationToken), Has.Count.EqualTo(3));
    }

    [Test]
    public async Task Collection_ends_at_its_count_with_all_messages_in_a_list(CancellationToken cancellationToken)
    {
        await StartAsync(
            """
            { "batch": {
                "start": "orders.open", "correlate": { "order": { "jsonpath": "$.order" } },
                "steps": [
                  { "collect": { "subscribe": "orders.item", "match": { "order": { "jsonpath": "$.order" } }, "until": { "count": 3, "within": "1h" }, "as": "items" } },
                  { "set": { "use": "items" } }, { "publish": "out.batch" } ] } }
            """,
            cancellationToken
        );
        await _bench.SendAsync("batch", WorkflowBench.Message("orders.open", """{ "order": 7 }"""), cancellationToken);
        for (var i = 1; i <= 3; i++)
            await _bench.SendAsync("batch", WorkflowBench.Message("orders.item", $$"""{"order":7,"n":{{i}}}"""), cancellationToken);

        await Eventually.BecomesAsync(() => !_bench.Published.IsEmpty, cancellationToken);
        Assert.That(_bench.Published.Single().Body.ReadText(), Is.EqualTo("""[{"order":7,"n":1},{"order":7,"n":2},{"order":7,"n":3}]"""));
    }

    [Test]
    public async Task Branches_wait_side_by_side_and_share_the_variables(CancellationToken cancellationToken)
    {
        await StartAsync(
            """
            { "both": {
                "start": "orders.open", "correlate": { "order": { "jsonpath": "$.order" } },
                "steps": [
                  { "parallel": { "branches": {
                      "bill": [{ "receive": { "subscribe": "bills.paid", "match": { "order": { "jsonpath": "$.order" } }, "as": "bill" } }, { "publish": "out.bill" }],
                      "ship": [{ "receive": { "subscribe": "stock.picked", "match": { "order": { "jsonpath": "$.order" } }, "as": "ship" } }, { "publish": "out.ship" }] } } },
                  { "set": { "body": { "template": "{variable.bill}{variable.ship}" } } }, { "publish": "out.both" } ] } }
            """,
            cancellationToken
        );
        await _bench.SendAsync("both", WorkflowBench.Message("orders.open", """{"order":1}"""), cancellationToken);
        await _bench.SendAsync("both", WorkflowBench.Message("stock.picked", """{"order":1,"s":1}"""), cancellationToken);
        await _bench.SendAsync("both", WorkflowBench.Message("bills.paid", """{"order":1,"b":1}"""), cancellationToken);

        await Eventually.BecomesAsync(() => _bench.Published.Count == 3, cancellationToken);
        Assert.That(_bench.Subjects, Is.EqualTo(new[] { "out.ship", "out.bill", "out.both" }));
        Assert.That(_bench.Published.Last().Body.ReadText(), Is.EqualTo("""{"order":1,"b":1}{"order":1,"s":1}"""));
    }

    [Test]
    public async Task Failed_scope_undoes_what_was_completed_inside_backwards(CancellationToken cancellationToken)
    {
        await StartAsync(
            """
            { "trip": { "start": "orders.open", "steps": [
                { "scope": {
                    "steps": [
                      { "scope": { "steps": [{ "publish": "out.flight" }], "compensate": [{ "publish": "out.no-flight" }] } },
                      { "scope": { "steps": [{ "publish": "out.hotel" }], "compensate": [{ "publish": "out.no-hotel" }] } },
                      { "fail": { "code": "SHOP-CARD", "reason": "no money" } } ],
                    "catch": [{ "codes": ["SHOP-*"], "steps": [{ "set": { "body": { "property": "error.reason" } } }, { "publish": "out.failed" }] }] } },
                { "publish": "out.end" } ] } }
            """,
            cancellationToken
        );
        await _bench.SendAsync("trip", WorkflowBench.Message("orders.open", "{}"), cancellationToken);

        await Eventually.BecomesAsync(() => _bench.Subjects.Contains("out.end"), cancellationToken);
        Assert.That(
            _bench.Subjects,
            Is.EqualTo(new[] { "out.flight", "out.hotel", "out.no-hotel", "out.no-flight", "out.failed", "out.end" })
        );
        Assert.That(_bench.Published.Last().Body.ReadText(), Is.EqualTo("no money"));
    }

    [Test]
    public async Task Loops_go_through_items_and_repeat_while_a_condition_holds(CancellationToken cancellationToken)
    {
        await StartAsync(
            """
            { "loop": { "start": "orders.open", "steps": [
                { "forEach": { "items": { "jsonpath": "$.lines[*]" }, "steps": [{ "publish": "out.line" }] } },
                { "set": { "variables": { "more": true } } },
                { "repeat": { "while": { "variable": "more" }, "steps": [{ "publish": "out.again" }, { "set": { "variables": { "more": false } } }] } } ] } }
            """,
            cancellationToken
        );
        await _bench.SendAsync("loop", WorkflowBench.Message("orders.open", """{ "lines": [1, 2] }"""), cancellationToken);

        await Eventually.BecomesAsync(() => _bench.Published.Count == 3, cancellationToken);
        Assert.That(
            _bench.Published.Select(message => (message.Subject, message.Body.ReadText())).Take(2),
            Is.EqualTo(new[] { ("out.line", "1"), ("out.line", "2") })
        );
        Assert.That(_bench.Published.Select(message => message.Id), Is.Unique);
    }

    [Test, Property("Case", "WFL-09")]
    public async Task Endless_loop_is_suspended(CancellationToken cancellationToken)
    {
        await StartAsync(
            """{ "loop": { "start": "orders.open", "steps": [{ "repeat": { "while": { "value": true }, "steps": [{ "set": { "variables": { "a": 1 } } }] } }] } }""",
            cancellationToken
        );
        await _bench.SendAsync("loop", WorkflowBench.Message("orders.open", "{}"), cancellationToken);

        var stopped = await _bench.WaitForAsync(WorkflowState.Suspended, cancellationToken);
        Assert.That((stopped.Code, stopped.Reason), Is.EqualTo(("ESB-WFL-LOOP", "The instance went through 10000 steps without waiting.")));
    }

    [Test, Property("Case", "WFL-08")]
    public async Task Variable_that_is_too_large_suspends_with_its_name(CancellationToken cancellationToken)
    {
        await StartAsync(
            """{ "big": { "start": "orders.open", "steps": [{ "set": { "variables": { "whole": { "message": "body" } } } }] } }""",
            cancellationToken
        );
        await _bench.SendAsync("big", WorkflowBench.Message("orders.open", new string('x', 1_100_000)), cancellationToken);

        var stopped = await _bench.WaitForAsync(WorkflowState.Suspended, cancellationToken);
        Assert.That((stopped.Code, stopped.Reason), Is.EqualTo(("ESB-WFL-STATE", "The variable 'whole' is larger than 1048576 bytes.")));
    }

    [Test]
    public async Task Large_variable_is_stored_once_beside_the_snapshots_and_is_there_after_a_crash(CancellationToken cancellationToken)
    {
        var large = new string('x', 100_000);
        await StartAsync(
            """
            { "large": { "start": "orders.open", "correlate": { "order": { "header": "order" } }, "steps": [
              { "set": { "variables": { "whole": { "message": "body" }, "twice": { "message": "body" } } } },
              { "receive": { "subscribe": "stock.first", "match": { "order": { "header": "order" } } } },
              { "receive": { "subscribe": "stock.second", "match": { "order": { "header": "order" } } } },
              { "set": { "body": { "variable": "whole" }, "variables": { "whole": { "template": "small" } } } }, { "publish": "out.whole" },
              { "receive": { "subscribe": "stock.third", "match": { "order": { "header": "order" } } } },
              { "set": { "variables": { "twice": { "template": "small" } } } } ] } }
            """,
            cancellationToken
        );
        await DeliverAsync("orders.open", large);
        await DeliverAsync("stock.first", "{}");
        var waiting = await FindAsync();
        await _bench.KillAsync();
        await _bench.StartAsync(cancellationToken);
        await DeliverAsync("stock.second", "{}");
        await Eventually.BecomesAsync(() => !_bench.Published.IsEmpty, cancellationToken);
        var kept = await FindAsync();
        await DeliverAsync("stock.third", "{}");
        await _bench.WaitForAsync(WorkflowState.Completed, cancellationToken);

        Assert.Multiple(() =>
        {
            Assert.That(_bench.Published.First().Body.ReadText(), Is.EqualTo(large));
            Assert.That(waiting.Snapshot.Length, Is.LessThan(10_000));
            Assert.That(waiting.LargeValues.Single().Value.Length, Is.GreaterThan(100_000), "two variables, one value");
            Assert.That(kept.LargeValues.Keys, Is.EqualTo(waiting.LargeValues.Keys), "used by one variable still");
        });
        Assert.That((await FindAsync()).LargeValues, Is.Empty, "no variable uses it");

        async Task DeliverAsync(string subject, string body) =>
            await _bench.SendAsync(
                "large",
                WorkflowBench.Message(subject, body) with
                {
                    Headers = MessageHeaders.From(new Dictionary<string, string> { ["order"] = "7" }),
                },
                cancellationToken
            );

        async Task<WorkflowInstance> FindAsync() =>
            (await _bench.Store.FindAsync((await _bench.InstancesAsync(cancellationToken)).Single().Id, cancellationToken))!;
    }

    [Test]
    public async Task Message_is_known_for_seven_days(CancellationToken cancellationToken)
    {
        await StartAsync("""{ "short": { "start": "orders.open", "steps": [{ "publish": "out.short" }] } }""", cancellationToken);
        var message = WorkflowBench.Message("orders.open", "{}");
        await _bench.SendAsync("short", message, cancellationToken);

        var known = await IsKnownAfterAsync(TimeSpan.FromDays(6.9));
        var later = await IsKnownAfterAsync(TimeSpan.FromDays(0.2)); // of 7.1

        Assert.That((known, later), Is.EqualTo((true, false)));

        async Task<bool> IsKnownAfterAsync(TimeSpan span)
        {
            _bench.Clock.Ahead += span;
            await _bench.Store.RemoveOldAsync(new Dictionary<string, TimeSpan>(), TimeSpan.FromDays(1), cancellationToken);
            return (await _bench.Store.FindTakersAsync("short", message.Id, [], [], cancellationToken)).IsKnown;
        }
    }

    [Test]
    public async Task Workflow_runs_another_and_goes_on_with_its_last_message(CancellationToken cancellationToken)
    {
        await StartAsync(
            """
            { "parent": { "start": "orders.open", "steps": [{ "runWorkflow": "child" }, { "publish": "out.parent" }, { "startWorkflow": "child" }] },
              "child": { "steps": [{ "set": { "body": { "template": "made by the child" } } }, { "publish": "out.child" }] } }
            """,
            cancellationToken
        );
        await _bench.SendAsync("parent", WorkflowBench.Message("orders.open", "{}"), cancellationToken);

        await Eventually.BecomesAsync(() => _bench.Published.Count >= 3, cancellationToken);
        await _bench.WaitForAsync(WorkflowState.Completed, cancellationToken, count: 3);
        Assert.That(_bench.Published.Single(message => message.Subject == "out.parent").Body.ReadText(), Is.EqualTo("made by the child"));
    }

    [Test, Property("Case", "WFL-01")]
    public async Task Message_that_no_instance_takes_becomes_a_dead_letter_in_time(CancellationToken cancellationToken)
    {
        await StartAsync(
            Fulfilment().Replace("\"start\"", "\"earlyMessages\": \"1s\", \"start\"", StringComparison.Ordinal),
            cancellationToken
        );
        await SendAsync("stock.picked", """{ "order": "9" }""", cancellationToken);

        await Eventually.BecomesAsync(
            async () => await _bench.Letters(cancellationToken).AnyAsync(letter => letter.Code == "ESB-WFL-NOMATCH", cancellationToken),
            cancellationToken
        );
    }

    private Task SendAsync(string subject, string body, CancellationToken cancellationToken) =>
        _bench.SendAsync("fulfil", WorkflowBench.Message(subject, body), cancellationToken);

    private async Task StartAsync(string workflows, CancellationToken cancellationToken)
    {
        _bench = new WorkflowBench(workflows);
        await _bench.StartAsync(cancellationToken);
    }

    internal static string Fulfilment(string timeout = "2h") =>
        $$"""
            { "fulfil": {
                "start": "orders.accepted",
                "correlate": { "order": { "jsonpath": "$.order" } },
                "steps": [
                  { "set": { "variables": { "order": { "jsonpath": "$.order" } } } },
                  { "publish": "stock.pick" },
                  { "receive": { "subscribe": "stock.picked", "match": { "order": { "jsonpath": "$.order" } }, "as": "picked", "timeout": "{{timeout}}",
                                 "onTimeout": [{ "publish": "orders.late" }, { "terminate": "late {variable.order}" }] } },
                  { "set": { "variables": { "by": { "jsonpath": "$.by", "of": "picked" } } } },
                  { "set": { "body": { "template": "picked by {variable.by} for {variable.order}" } } },
                  { "publish": "orders.shipped" } ] } }
            """;
}
