using Esb.Core.Endpoints;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Workflows;
using Esb.Tests.Fakes;
using Esb.Workflows.Workflows.Engine;
using NSubstitute;

namespace Esb.Tests.Workflows.Instances;

/// <summary>What the documentation says of single steps and settings, each shown once.</summary>
[CancelAfter(60_000)]
public sealed class WorkflowSentenceTests
{
    private const string Match = """ "match": { "order": { "jsonpath": "$.order" } } """;

    private static readonly OperatorDecision Decision = new("ops", "enough");

    private WorkflowBench _bench = null!;

    [TearDown]
    public async Task Stop() => await _bench.DisposeAsync();

    [Test]
    public async Task Workflow_that_is_terminated_fails_the_step_that_runs_it(CancellationToken cancellationToken)
    {
        await StartAsync(
            """
            { "parent": { "start": "orders.open", "steps": [
                { "try": { "steps": [{ "runWorkflow": "child" }], "catch": [{ "codes": ["ESB-WFL-CHILD"], "steps": [{ "set": { "body": { "property": "error.reason" } } }] }] } },
                { "publish": "out.caught" }, { "runWorkflow": "child" } ] },
              "child": { "steps": [{ "terminate": "sold out" }] } }
            """,
            cancellationToken
        );

        await SendAsync("parent", "orders.open", cancellationToken);

        var stopped = await _bench.WaitForAsync(WorkflowState.Suspended, cancellationToken);
        await Eventually.BecomesAsync(() => _bench.Subjects.Contains("out.caught"), cancellationToken);
        const string reason = "The workflow that the step runs was terminated: sold out.";
        Assert.That(_bench.Published.Single().Body.ReadText(), Is.EqualTo(reason));
        Assert.That(
            (stopped.Workflow, stopped.Code, stopped.Reason),
            Is.EqualTo(("parent", "ESB-WFL-CHILD", reason)),
            "where nothing catches it"
        );
    }

    [Test]
    public async Task Workflow_that_is_suspended_keeps_the_one_that_runs_it_waiting(CancellationToken cancellationToken)
    {
        await StartAsync(
            """
            { "parent": { "start": "orders.open", "steps": [{ "runWorkflow": "child" }, { "publish": "out.done" }] },
              "child": { "steps": [{ "fail": { "code": "SHOP-1", "reason": "closed" } }] } }
            """,
            cancellationToken
        );
        await SendAsync("parent", "orders.open", cancellationToken);
        var child = await _bench.WaitForAsync(WorkflowState.Suspended, cancellationToken);
        var parent = await _bench.WaitForAsync(WorkflowState.Waiting, cancellationToken);

        await _bench.Control.RetryAsync(child.Id, skip: true, Decision, cancellationToken);

        await _bench.WaitForAsync(WorkflowState.Completed, cancellationToken, count: 2);
        Assert.That((parent.Workflow, child.Parent), Is.EqualTo(("parent", (Guid?)parent.Id)));
    }

    [TestCase(true, TestName = "Instances_that_one_runs_end_with_it_at_any_depth_when_an_operator_ends_it")]
    [TestCase(false, TestName = "Instances_that_one_runs_end_with_it_at_any_depth_when_its_time_is_over")]
    public async Task Instances_that_one_runs_end_with_it(bool byOperator, CancellationToken cancellationToken)
    {
        await StartAsync(
            """
            { "parent": { "start": "orders.open", "timeout": "1d", "steps": [{ "startWorkflow": "free" }, { "runWorkflow": "child" }] },
              "child": { "steps": [{ "runWorkflow": "grandchild" }] },
              "grandchild": { "steps": [{ "delay": "1h" }] },
              "free": { "steps": [{ "delay": "1h" }] } }
            """,
            cancellationToken
        );
        await SendAsync("parent", "orders.open", cancellationToken);
        await _bench.WaitForAsync(WorkflowState.Waiting, cancellationToken, count: 4);
        var parent = (await FindAsync("parent", cancellationToken)).Id;

        if (byOperator)
            await _bench.Control.TerminateAsync(parent, compensate: false, Decision, cancellationToken);
        else
            await _bench.Engine.FireAsync(
                new StoredTimer(MessageIds.Derive(parent, "timer timeout"), TimerKinds.Timeout, parent.ToString()),
                cancellationToken
            );

        await _bench.WaitForAsync(WorkflowState.Terminated, cancellationToken, count: 3);
        using (Assert.EnterMultipleScope())
        {
            Assert.That((await FindAsync("free", cancellationToken)).State, Is.EqualTo(WorkflowState.Waiting), "only started");
            Assert.That(
                (await FindAsync("parent", cancellationToken)).Reason,
                byOperator ? Is.EqualTo("terminated by ops: enough") : Does.Contain("as long as")
            );
            Assert.That(
                (await FindAsync("grandchild", cancellationToken)).Reason,
                Is.EqualTo("The instance that ran it waits for it no longer.")
            );
        }
    }

    [Test]
    public async Task Branch_that_is_not_needed_any_more_ends_what_it_runs(CancellationToken cancellationToken)
    {
        await StartAsync(
            """
            { "parent": { "start": "orders.open", "steps": [
                { "parallel": { "join": "any", "branches": { "long": [{ "runWorkflow": "child" }, { "publish": "out.never" }], "short": [{ "delay": "1s" }] } } },
                { "publish": "out.done" } ] },
              "child": { "steps": [{ "delay": "1h" }] } }
            """,
            cancellationToken
        );

        await SendAsync("parent", "orders.open", cancellationToken);

        await _bench.WaitForAsync(WorkflowState.Completed, cancellationToken);
        await _bench.WaitForAsync(WorkflowState.Terminated, cancellationToken);
        await Eventually.BecomesAsync(() => _bench.Subjects.Contains("out.done"), cancellationToken);
        Assert.That((await FindAsync("child", cancellationToken)).State, Is.EqualTo(WorkflowState.Terminated));
        Assert.That(_bench.Subjects, Does.Not.Contain("out.never"));
    }

    [Test]
    public async Task Operator_ends_an_instance_and_undoes_what_it_has_completed(CancellationToken cancellationToken)
    {
        await StartAsync(
            """
            { "trip": { "start": "orders.open", "steps": [
                { "scope": { "steps": [{ "publish": "out.flight" }], "compensate": [{ "publish": "out.no-flight" }] } },
                { "scope": { "steps": [{ "publish": "out.hotel" }], "compensate": [{ "delay": "1s" }, { "publish": "out.no-hotel" }] } },
                { "scope": { "steps": [{ "delay": "1h" }], "compensate": [{ "publish": "out.never" }] } } ] } }
            """,
            cancellationToken
        );
        await SendAsync("trip", "orders.open", cancellationToken);
        var waiting = await _bench.WaitForAsync(WorkflowState.Waiting, cancellationToken);

        var undoing = await _bench.Control.TerminateAsync(waiting.Id, compensate: true, Decision, cancellationToken);

        var undone = await _bench.WaitForAsync(WorkflowState.Compensated, cancellationToken);
        await Eventually.BecomesAsync(() => _bench.Subjects.Count() == 4, cancellationToken);
        Assert.That((undoing.State, undone.Reason), Is.EqualTo((WorkflowState.Compensating, "terminated by ops: enough")));
        Assert.That(_bench.Subjects, Is.EqualTo(new[] { "out.flight", "out.hotel", "out.no-hotel", "out.no-flight" }));
    }

    [Test]
    public async Task Instance_that_has_lived_as_long_as_its_workflow_allows_is_terminated(CancellationToken cancellationToken)
    {
        await StartAsync(
            """{ "short": { "start": "orders.open", "timeout": "1s", "steps": [{ "delay": "1h" }, { "publish": "out.never" }] } }""",
            cancellationToken
        );

        await SendAsync("short", "orders.open", cancellationToken);

        var ended = await _bench.WaitForAsync(WorkflowState.Terminated, cancellationToken);
        Assert.That((ended.Code, ended.Reason), Is.EqualTo(("ESB-WFL-TIMEOUT", "The instance has lived as long as its workflow allows.")));
        Assert.That(_bench.Published, Is.Empty);
    }

    [TestCase("", 2), TestCase(""", "checkpoint": false""", 1)]
    public async Task Call_is_followed_by_a_checkpoint_unless_it_says_otherwise(
        string setting,
        int checkpoints,
        CancellationToken cancellationToken
    )
    {
        var shop = Substitute.For<IEndpointCaller>();
        _bench = new WorkflowBench(
            $$"""{ "w": { "start": "orders.open", "steps": [{ "call": { "endpoint": "shop"{{setting}} } }, { "publish": "out.done" }] } }""",
            """ "endpoints": { "shop": { "type": "http-outbound", "url": "http://localhost:1" } }, """
        )
        {
            Caller = shop,
        };
        await _bench.StartAsync(cancellationToken);
        shop.CallAsync(default!, default!, default, default)
            .ReturnsForAnyArgs(call => (EsbMessage?)call.Arg<EsbMessage>().Reply(MessageBody.FromText("sold"), TimeProvider.System));

        await SendAsync("w", "orders.open", cancellationToken);

        var ended = await _bench.WaitForAsync(WorkflowState.Completed, cancellationToken);
        await shop.ReceivedWithAnyArgs(1).CallAsync(default!, default!, default, default);
        Assert.That((await _bench.Store.HistoryAsync(ended.Id, 0, 100, cancellationToken)), Has.Count.EqualTo(checkpoints));
    }

    [Test]
    public async Task Process_that_a_workflow_runs_reads_its_variables_sets_properties_and_publishes(CancellationToken cancellationToken)
    {
        _bench = new WorkflowBench(
            """
            { "w": { "start": "orders.open", "steps": [
                { "set": { "variables": { "who": "Ann" } } },
                { "run": "greet" },
                { "set": { "body": { "template": "{message.body} {property.count}" } } }, { "publish": "out.done" } ] } }
            """,
            """
            "processes": { "greet": [
              { "set": { "body": { "template": "hello {variable.who}" }, "properties": { "count": 1 } } }, { "publish": "out.greeting" }] },
            """
        );
        await _bench.StartAsync(cancellationToken);

        await SendAsync("w", "orders.open", cancellationToken);

        await _bench.WaitForAsync(WorkflowState.Completed, cancellationToken);
        await Eventually.BecomesAsync(() => _bench.Published.Count == 2, cancellationToken);
        Assert.That(
            _bench.Published.Select(message => (message.Subject, message.Body.ReadText())),
            Is.EqualTo(new[] { ("out.greeting", "hello Ann"), ("out.done", "hello Ann 1") })
        );
    }

    [TestCase(""" "idle": "1s" """, 2, TestName = "Collection_ends_when_no_message_came_for_a_time")]
    [TestCase(""" "within": "2s" """, 2, TestName = "Collection_ends_a_time_after_its_wait_began")]
    [TestCase(
        """ "if": { "jsonpath": "$.n", "equals": 2 } """,
        2,
        TestName = "Collection_ends_with_the_message_for_which_its_condition_holds"
    )]
    [TestCase(""" "count": 1, "idle": "1h" """, 1, TestName = "Collection_ends_at_whatever_is_first")]
    public async Task Collection_ends(string until, int messages, CancellationToken cancellationToken)
    {
        await StartAsync(
            $$"""
            { "batch": { "start": "orders.open", "correlate": { "order": { "jsonpath": "$.order" } }, "steps": [
                { "collect": { "subscribe": "orders.item", {{Match}}, "until": { {{until}} }, "as": "items" } },
                { "set": { "use": "items" } }, { "publish": "out.batch" } ] } }
            """,
            cancellationToken
        );
        await SendAsync("batch", "orders.open", cancellationToken);
        for (var i = 1; i <= 2; i++)
            await _bench.SendAsync("batch", WorkflowBench.Message("orders.item", $$"""{"order":1,"n":{{i}}}"""), cancellationToken);

        await Eventually.BecomesAsync(() => !_bench.Published.IsEmpty, cancellationToken);
        var items = string.Join(',', Enumerable.Range(1, messages).Select(i => $$"""{"order":1,"n":{{i}}}"""));
        Assert.That(_bench.Published.Single().Body.ReadText(), Is.EqualTo($"[{items}]"));
    }

    private Task SendAsync(string workflow, string subject, CancellationToken cancellationToken) =>
        _bench.SendAsync(workflow, WorkflowBench.Message(subject, """{"order":1}"""), cancellationToken);

    private async Task<WorkflowInstance> FindAsync(string workflow, CancellationToken cancellationToken) =>
        (await _bench.InstancesAsync(cancellationToken)).Single(instance => instance.Workflow == workflow);

    private async Task StartAsync(string workflows, CancellationToken cancellationToken)
    {
        _bench = new WorkflowBench(workflows);
        await _bench.StartAsync(cancellationToken);
    }
}
