using Esb.Core.Audit;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Core.Workflows;
using Esb.Tests.Fakes;

namespace Esb.Tests.Workflows.Instances;

/// <summary>What workflows do with messages, times and steps that they cannot use.</summary>
[CancelAfter(60_000)]
public sealed class WorkflowBadInputTests
{
    private const string Match = """ "match": { "order": { "jsonpath": "$.order" } } """;

    private static readonly OperatorDecision Decision = new("ops", "seen");

    private WorkflowBench? _bench;

    [TearDown]
    public async Task Stop()
    {
        if (_bench is { } started)
            await started.DisposeAsync();
        _bench = null;
    }

    [TestCase("stock.picked", "stock.picked", "order", true)]
    [TestCase("stock.*", "stock.picked", "order", true)]
    [TestCase("stock.*.blue", "stock.lamp.*", "order", true)]
    [TestCase("stock.picked", "stock.packed", "order", false)]
    [TestCase("stock.picked", "stock.picked", "parcel", false)]
    [Property("Case", "WFL-02")]
    public void Branches_that_wait_for_one_message_are_refused_by_their_ids(string first, string second, string key, bool isAmbiguous)
    {
        var compiled = CompiledWorkflows.Of(
            $$"""
            { "both": {
                "start": "orders.open", "correlate": { "order": { "jsonpath": "$.order" }, "parcel": { "jsonpath": "$.parcel" } },
                "steps": [{ "parallel": { "branches": {
                  "one": [{ "id": "wait-one", "receive": { "subscribe": "{{first}}", {{Match}} } }],
                  "two": [{ "id": "wait-two", "receive": { "subscribe": "{{second}}", "match": { "{{key}}": { "jsonpath": "$.order" } } } }] } } }] } }
            """
        );

        if (!isAmbiguous)
        {
            Assert.That(compiled.Errors, Is.Empty);
            return;
        }

        var error = compiled.Errors.Single();
        Assert.That(
            (error.Code, error.Path),
            Is.EqualTo(("ESB-WFL-AMBIGUOUS", "workflows.both.steps[0].parallel.branches.two[0].receive"))
        );
        Assert.That(error.Expected, Is.EqualTo("waits for the same subject and keys as wait-one in another branch"));
    }

    [Test, Property("Case", "WFL-03")]
    public async Task Message_that_waits_for_an_instance_that_ends_is_recorded_as_late_and_has_no_effect(
        CancellationToken cancellationToken
    )
    {
        var bench = await StartAsync(
            $$"""
            { "late": {
                "start": "orders.open", "correlate": { "order": { "jsonpath": "$.order" } },
                "steps": [
                  { "receive": { "subscribe": "stock.picked", {{Match}}, "as": "picked" } },
                  { "choose": { "when": [{ "if": { "jsonpath": "$.bill" }, "steps": [{ "receive": { "subscribe": "bills.paid", {{Match}} } }, { "publish": "out.paid" }] }] } } ] } }
            """,
            cancellationToken
        );
        var paid = WorkflowBench.Message("bills.paid", """{"order":1}""");
        foreach (
            var message in new[]
            {
                WorkflowBench.Message("orders.open", """{"order":1}"""),
                paid,
                WorkflowBench.Message("stock.picked", """{"order":1}"""),
            }
        )
            await bench.SendAsync("late", message, cancellationToken);

        await bench.WaitForAsync(WorkflowState.Completed, cancellationToken);
        await Eventually.BecomesAsync(() => bench.Audit.Facts.Any(fact => fact.Code == "ESB-WFL-LATE"), cancellationToken);
        var fact = bench.Audit.Facts.Single(fact => fact.Code == "ESB-WFL-LATE");
        using (Assert.EnterMultipleScope())
        {
            Assert.That((fact.Kind, fact.MessageId), Is.EqualTo((AuditKind.Filtered, paid.Id)));
            Assert.That(bench.Published, Is.Empty);
            Assert.That(await bench.Letters(cancellationToken).AnyAsync(cancellationToken), Is.False);
            Assert.That(await bench.InstancesAsync(cancellationToken), Has.Count.EqualTo(1));
        }
    }

    [Test, Property("Case", "WFL-05")]
    public async Task Instance_with_too_long_a_history_is_suspended_and_can_be_ended(CancellationToken cancellationToken)
    {
        const int Items = 2_500;
        var bench = await StartAsync(
            """
            { "long": { "start": "orders.open", "steps": [
                { "repeat": { "while": true, "steps": [
                  { "forEach": { "items": { "jsonpath": "$[*]" }, "steps": [{ "set": { "variables": { "last": { "message": "body" } } } }] } },
                  { "delay": { "until": { "value": "2020-01-01T00:00:00Z" } } } ] } } ] } }
            """,
            cancellationToken
        );

        await bench.SendAsync(
            "long",
            WorkflowBench.Message("orders.open", $"[{string.Join(',', Enumerable.Range(1, Items))}]"),
            cancellationToken
        );

        var stopped = await bench.WaitForAsync(WorkflowState.Suspended, cancellationToken);
        var history = await bench.Store.HistoryAsync(stopped.Id, 0, 100, cancellationToken);
        var ended = await bench.Control.TerminateAsync(stopped.Id, compensate: false, Decision, cancellationToken);
        using (Assert.EnterMultipleScope())
        {
            Assert.That((stopped.Code, stopped.Reason), Is.EqualTo(("ESB-WFL-HISTORY", "The history has 10000 steps.")));
            Assert.That(history.Sum(line => line.Steps.Split("\"kind\":").Length - 1), Is.InRange(10_000, 10_010));
            Assert.That(ended.State, Is.EqualTo(WorkflowState.Terminated));
        }
    }

    [TestCase("""[{ "delay": "0s" }]""", "workflows.w.steps[0].delay")]
    [TestCase("""[{ "delay": "73000d" }]""", "workflows.w.steps[0].delay")]
    [TestCase($$"""[{ "receive": { "subscribe": "stock.picked", {{Match}}, "timeout": "0s" } }]""", "workflows.w.steps[0].receive.timeout")]
    [TestCase(
        $$"""[{ "receive": { "subscribe": "stock.picked", {{Match}}, "timeout": "73000d" } }]""",
        "workflows.w.steps[0].receive.timeout"
    )]
    [TestCase(
        $$"""[{ "collect": { "subscribe": "stock.picked", {{Match}}, "until": { "idle": "999ms" } } }]""",
        "workflows.w.steps[0].collect.until.idle"
    )]
    [TestCase(
        $$"""[{ "collect": { "subscribe": "stock.picked", {{Match}}, "until": { "within": "73000d" } } }]""",
        "workflows.w.steps[0].collect.until.within"
    )]
    [TestCase("""[{ "delay": "1s" }], "timeout": "0s" """, "workflows.w.timeout")]
    [TestCase("""[{ "delay": "1s" }], "timeout": "73000d" """, "workflows.w.timeout")]
    [Property("Case", "WFL-06")]
    public void Time_that_no_timer_can_keep_is_refused(string steps, string path)
    {
        var compiled = CompiledWorkflows.Of(
            $$"""{ "w": { "start": "orders.new", "correlate": { "order": { "jsonpath": "$.order" } }, "steps": {{steps}} } }"""
        );

        var error = compiled.Errors.Single();
        Assert.That((error.Code, error.Path, error.Expected), Is.EqualTo(("ESB-WFL-TIMER", path, "expected 1s to 5 years")));
    }

    [TestCase("""{ "delay": "-1s" }""")]
    [TestCase($$"""{ "receive": { "subscribe": "stock.picked", {{Match}}, "timeout": "-5m" } }""")]
    [Property("Case", "WFL-06")]
    public void Negative_time_is_none(string step)
    {
        var compiled = CompiledWorkflows.Of(
            $$"""{ "w": { "start": "orders.new", "correlate": { "order": { "jsonpath": "$.order" } }, "steps": [{{step}}] } }"""
        );

        Assert.That(compiled.Errors.Select(error => error.Code), Is.EqualTo(new[] { "ESB-CFG-DURATION" }));
    }

    [TestCase("2226-11-27T00:00:00Z", "The instant of the delay is more than 5 years away.")]
    [TestCase("9999-12-31T23:59:59Z", "The instant of the delay is more than 5 years away.")]
    [TestCase("-5m", "The value of the delay is not a time such as 2027-01-01T08:00:00Z.")]
    [TestCase("", "The value of the delay is not a time such as 2027-01-01T08:00:00Z.")]
    [Property("Case", "WFL-06")]
    public async Task Value_that_no_timer_can_keep_suspends(string at, string reason, CancellationToken cancellationToken)
    {
        var bench = await StartAsync(Until, cancellationToken);

        await bench.SendAsync("later", WorkflowBench.Message("orders.open", $$"""{ "at": "{{at}}" }"""), cancellationToken);

        var stopped = await bench.WaitForAsync(WorkflowState.Suspended, cancellationToken);
        Assert.That((stopped.Code, stopped.Reason), Is.EqualTo(("ESB-WFL-TIMER", reason)));
    }

    [TestCase("2020-01-01T00:00:00Z"), TestCase("0001-01-01T00:00:00Z"), Property("Case", "WFL-06")]
    public async Task Instant_that_has_passed_does_not_wait(string at, CancellationToken cancellationToken)
    {
        var bench = await StartAsync(Until, cancellationToken);

        await bench.SendAsync("later", WorkflowBench.Message("orders.open", $$"""{ "at": "{{at}}" }"""), cancellationToken);

        await bench.WaitForAsync(WorkflowState.Completed, cancellationToken);
    }

    [Test, Property("Case", "WFL-07")]
    public async Task Compensation_that_fails_waits_for_people_and_says_what_is_left(CancellationToken cancellationToken)
    {
        var bench = await StartAsync(
            """
            { "trip": { "start": "orders.open", "steps": [
                { "scope": {
                    "steps": [
                      { "scope": { "steps": [{ "publish": "out.flight" }], "compensate": [{ "id": "no-flight", "publish": "out.no-flight" }] } },
                      { "scope": { "steps": [{ "publish": "out.hotel" }], "compensate": [{ "id": "no-hotel", "fail": { "code": "HOTEL-AWAY", "reason": "nobody answers" } }] } },
                      { "fail": { "code": "SHOP-CARD", "reason": "no money" } } ],
                    "catch": [{ "steps": [{ "publish": "out.failed" }] }] } },
                { "publish": "out.end" } ] } }
            """,
            cancellationToken
        );
        await bench.SendAsync("trip", WorkflowBench.Message("orders.open", "{}"), cancellationToken);

        var failed = await bench.WaitForAsync(WorkflowState.CompensationFailed, cancellationToken);
        var again = await bench.Control.RetryAsync(failed.Id, skip: false, Decision, cancellationToken);
        var history = await bench.Store.HistoryAsync(failed.Id, 0, 100, cancellationToken);
        var before = bench.Subjects.ToList();
        await bench.Control.RetryAsync(failed.Id, skip: true, Decision, cancellationToken); // the hotel was cancelled by telephone

        await bench.WaitForAsync(WorkflowState.Completed, cancellationToken);
        await Eventually.BecomesAsync(() => bench.Subjects.Contains("out.end"), cancellationToken);
        using (Assert.EnterMultipleScope())
        {
            Assert.That((failed.Code, failed.Reason, failed.Step), Is.EqualTo(("HOTEL-AWAY", "nobody answers", "no-hotel")));
            Assert.That(again.State, Is.EqualTo(WorkflowState.CompensationFailed), "never completed");
            Assert.That(history[0].Steps, Does.Contain("To be undone by hand, or after a retry: no-hotel, no-flight."));
            Assert.That(before, Is.SubsetOf(new[] { "out.flight", "out.hotel" }), "neither undone further, nor gone on");
            Assert.That(bench.Subjects, Is.EqualTo(new[] { "out.flight", "out.hotel", "out.no-flight", "out.failed", "out.end" }));
        }
    }

    [TestCase(1024, true), TestCase(1025, false)]
    public async Task Value_of_a_key_has_a_longest_length(int length, bool starts, CancellationToken cancellationToken)
    {
        var bench = await StartAsync(
            """{ "w": { "start": "orders.open", "correlate": { "order": { "jsonpath": "$.order" } }, "steps": [{ "delay": "1h" }] } }""",
            cancellationToken
        );

        await bench.SendAsync(
            "w",
            WorkflowBench.Message("orders.open", $$"""{ "order": "{{new string('x', length)}}" }"""),
            cancellationToken
        );

        Assert.That(await bench.InstancesAsync(cancellationToken), Has.Count.EqualTo(starts ? 1 : 0));
        var letter = (bench.LastSettlement as Settlement.Divert)?.Letter;
        Assert.That(
            (letter?.Code, letter?.Reason),
            Is.EqualTo(starts ? (null, null) : ("ESB-WFL-KEY", "The value for the key 'order' is longer than 1024 characters."))
        );
    }

    [Test]
    public async Task Value_of_a_key_with_several_lines_is_shown_in_one(CancellationToken cancellationToken)
    {
        var bench = await StartAsync(
            """{ "w": { "start": "orders.open", "correlate": { "order": { "jsonpath": "$.order" } }, "steps": [{ "delay": "1h" }] } }""",
            cancellationToken
        );

        await bench.SendAsync("w", WorkflowBench.Message("orders.open", """{ "order": "1\norder=2" }"""), cancellationToken);

        Assert.That((await bench.InstancesAsync(cancellationToken)).Single().Keys, Is.EqualTo("order=1 order=2"));
    }

    private const string Until = """{ "later": { "start": "orders.open", "steps": [{ "delay": { "until": { "jsonpath": "$.at" } } }] } }""";

    private async Task<WorkflowBench> StartAsync(string workflows, CancellationToken cancellationToken)
    {
        _bench = new WorkflowBench(workflows);
        await _bench.StartAsync(cancellationToken);
        return _bench;
    }
}
