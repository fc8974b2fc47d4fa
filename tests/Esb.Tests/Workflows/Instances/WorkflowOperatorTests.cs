using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Core.Workflows;
using Esb.Tests.Fakes;

namespace Esb.Tests.Workflows.Instances;

/// <summary>Operators act on many instances, and move them to another definition.</summary>
[CancelAfter(30_000)]
public sealed class WorkflowOperatorTests
{
    private const string Broken = """[{ "id": "check", "fail": { "code": "SHOP-1", "reason": "closed" } }, { "publish": "out.done" }]""";

    private static readonly OperatorDecision Decision = new("ops", "the shop is back");

    private WorkflowBench _bench = null!;

    [TearDown]
    public async Task Stop() => await _bench.DisposeAsync();

    [Test]
    public async Task Suspended_instances_of_a_filter_go_on_or_fail_again(CancellationToken cancellationToken)
    {
        await StartFailingAsync(count: 12, cancellationToken);
        var order = new WorkflowBatchOrder(WorkflowAction.Retry, new WorkflowQuery { Workflow = "fragile" }, Decision);

        var preview = await _bench.Batches.PreviewAsync(order, cancellationToken);
        var retried = await EndAsync(_bench.Batches.Begin(order), cancellationToken);
        var skipped = await EndAsync(_bench.Batches.Begin(order with { Action = WorkflowAction.Skip }), cancellationToken);

        Assert.That(preview, Is.EqualTo(new[] { new WorkflowBatchGroup("fragile", WorkflowState.Suspended, "check", "SHOP-1", 12) }));
        Assert.That((retried.State, retried.Done, retried.Failed), Is.EqualTo((WorkflowBatchState.Done, 0L, 12L)));
        Assert.That((skipped.State, skipped.Done, skipped.Failed), Is.EqualTo((WorkflowBatchState.Done, 12L, 0L)));
        await _bench.WaitForAsync(WorkflowState.Completed, cancellationToken, count: 12);
    }

    [Test]
    public async Task Batch_stops_where_most_fail_again(CancellationToken cancellationToken)
    {
        await StartFailingAsync(count: 15, cancellationToken);
        var order = new WorkflowBatchOrder(WorkflowAction.Retry, new WorkflowQuery(), Decision) { StopAt = 0.5 };

        var batch = await EndAsync(_bench.Batches.Begin(order), cancellationToken);

        Assert.That((batch.State, batch.Failed, batch.Reason), Is.EqualTo((WorkflowBatchState.Stopped, 10L, "10 of 10 instances failed")));
    }

    [Test]
    public async Task Batch_keeps_its_rate_and_an_operator_stops_it(CancellationToken cancellationToken)
    {
        await StartFailingAsync(count: 5, cancellationToken);
        var order = new WorkflowBatchOrder(WorkflowAction.Terminate, new WorkflowQuery { Workflow = "fragile" }, Decision) { Rate = 0.5 };

        var begun = _bench.Batches.Begin(order);
        await Eventually.BecomesAsync(() => Find(begun.Id).Done == 1, cancellationToken);
        _bench.Batches.Stop(begun.Id);
        var batch = await EndAsync(begun, cancellationToken);

        Assert.That((batch.State, batch.Reason), Is.EqualTo((WorkflowBatchState.Stopped, "an operator stopped it")));
        Assert.That(batch.Done, Is.LessThan(5));
    }

    [Test]
    public async Task Action_is_refused_for_states_that_it_is_not_for(CancellationToken cancellationToken)
    {
        await StartFailingAsync(count: 1, cancellationToken);
        var order = new WorkflowBatchOrder(WorkflowAction.Retry, new WorkflowQuery { States = [WorkflowState.Waiting] }, Decision);

        Assert.That(() => _bench.Batches.Begin(order), Throws.InstanceOf<EsbException>().With.Property("Code").EqualTo("ESB-WFL-ACTION"));
    }

    [Test]
    public async Task Instances_move_to_another_definition_and_end_on_it(CancellationToken cancellationToken)
    {
        await StartWaitingAsync(Steps("stock.picked", "out.first", "order"), cancellationToken);
        await ConfigureAsync(Steps("stock.packed", "out.second", "order", """{ "publish": "out.new" },"""), cancellationToken);

        var planned = await _bench.Control.MigrateAsync("fulfil", to: null, isDryRun: true, Decision, cancellationToken);
        var before = await _bench.InstancesAsync(cancellationToken);
        var moved = await _bench.Control.MigrateAsync("fulfil", to: null, isDryRun: false, Decision, cancellationToken);
        var after = await _bench.InstancesAsync(cancellationToken);
        foreach (var order in new[] { 1, 2 })
            await _bench.SendAsync("fulfil", WorkflowBench.Message("stock.packed", $$"""{"order":{{order}}}"""), cancellationToken);

        await _bench.WaitForAsync(WorkflowState.Completed, cancellationToken, count: 2);
        await Eventually.BecomesAsync(() => _bench.Published.Count == 2, cancellationToken);
        using (Assert.EnterMultipleScope())
        {
            Assert.That((planned.Movable, planned.Moved, planned.Obstacles.Count), Is.EqualTo((2L, 0L, 0)));
            Assert.That(moved.Moved, Is.EqualTo(2));
            Assert.That(before.Select(instance => instance.Definition), Has.None.EqualTo(moved.To));
            Assert.That(after.Select(instance => instance.Definition), Has.All.EqualTo(moved.To));
            Assert.That(_bench.Subjects, Is.EqualTo(new[] { "out.second", "out.second" }), "by the wait of the other definition");
        }

        var history = await _bench.Store.HistoryAsync(after[0].Id, 0, 100, cancellationToken);
        Assert.That(history.Select(line => line.Steps), Has.Some.Contains("migrated").And.Some.Contains("the shop is back"));
    }

    [
        TestCase(
            """[{ "id": "other-wait", "receive": { "subscribe": "stock.picked", "match": { "order": { "jsonpath": "$.order" } } } }, { "publish": "out.x" }]""",
            "the step wait (receive) has no counterpart"
        ),
        TestCase("""[{ "id": "wait", "delay": "1m" }, { "publish": "out.x" }]""", "the step wait (receive) has no counterpart"),
        TestCase(
            """[{ "correlate": { "parcel": { "jsonpath": "$.parcel" } } }, { "id": "wait", "receive": { "subscribe": "stock.picked", "match": { "parcel": { "jsonpath": "$.parcel" } } } }, { "publish": "out.x" }]""",
            "would wait with the key 'parcel'"
        )
    ]
    public async Task None_moves_where_one_would_be_stranded(string steps, string reason, CancellationToken cancellationToken)
    {
        await StartWaitingAsync(Steps("stock.picked", "out.first", "order"), cancellationToken);
        await ConfigureAsync(steps, cancellationToken);

        var planned = await _bench.Control.MigrateAsync("fulfil", to: null, isDryRun: true, Decision, cancellationToken);

        Assert.That(planned.Obstacles.Single().Reason, Does.Contain(reason));
        Assert.That(planned.Obstacles.Single().Instances, Is.EqualTo(2));
        Assert.That(
            async () => await _bench.Control.MigrateAsync("fulfil", to: null, isDryRun: false, Decision, cancellationToken),
            Throws.InstanceOf<EsbException>().With.Property("Code").EqualTo("ESB-WFL-STRANDED")
        );
        await _bench.SendAsync("fulfil", WorkflowBench.Message("stock.picked", """{"order":1}"""), cancellationToken);
        await _bench.WaitForAsync(WorkflowState.Completed, cancellationToken);
        await Eventually.BecomesAsync(() => _bench.Subjects.SequenceEqual(["out.first"]), cancellationToken);
    }

    [Test]
    public async Task Step_without_an_id_is_found_only_where_it_is_the_same(CancellationToken cancellationToken)
    {
        const string Wait = """{ "receive": { "subscribe": "stock.picked", "match": { "order": { "jsonpath": "$.order" } } } }""";
        await StartWaitingAsync($$"""[{{Wait}}, { "publish": "out.first" }]""", cancellationToken);
        await ConfigureAsync($$"""[{ "publish": "out.new" }, {{Wait}}, { "publish": "out.second" }]""", cancellationToken);
        var shifted = await _bench.Control.MigrateAsync("fulfil", to: null, isDryRun: true, Decision, cancellationToken);
        await ConfigureAsync($$"""[{{Wait}}, { "publish": "out.second" }]""", cancellationToken);
        var same = await _bench.Control.MigrateAsync("fulfil", to: null, isDryRun: false, Decision, cancellationToken);

        Assert.That((shifted.Movable, shifted.Obstacles.Sum(obstacle => obstacle.Instances)), Is.EqualTo((0L, 2L)));
        Assert.That(same.Moved, Is.EqualTo(2));
    }

    private static string Steps(string subject, string outcome, string key, string first = "") =>
        $$"""
            [{{first}} { "id": "wait", "receive": { "subscribe": "{{subject}}", "match": { "{{key}}": { "jsonpath": "$.order" } } } },
             { "publish": "{{outcome}}" }]
            """;

    private static string Fulfil(string steps) =>
        $$"""{ "fulfil": { "start": "orders.accepted", "correlate": { "order": { "jsonpath": "$.order" } }, "steps": {{steps}} } }""";

    private WorkflowBatch Find(Guid id) => _bench.Batches.All.Single(batch => batch.Id == id);

    private async Task<WorkflowBatch> EndAsync(WorkflowBatch begun, CancellationToken cancellationToken)
    {
        await Eventually.BecomesAsync(() => Find(begun.Id).State != WorkflowBatchState.Running, cancellationToken);
        return Find(begun.Id);
    }

    private async Task StartFailingAsync(int count, CancellationToken cancellationToken)
    {
        _bench = new WorkflowBench(
            $$"""{ "fragile": { "start": "orders.new", "steps": {{Broken}}, "retry": { "immediate": 0, "delays": [] } } }"""
        );
        await _bench.StartAsync(cancellationToken);
        for (var i = 0; i < count; i++)
            await _bench.SendAsync("fragile", WorkflowBench.Message("orders.new", "{}"), cancellationToken);
        await _bench.WaitForAsync(WorkflowState.Suspended, cancellationToken, count);
    }

    private async Task StartWaitingAsync(string steps, CancellationToken cancellationToken)
    {
        _bench = new WorkflowBench(Fulfil(steps));
        await _bench.StartAsync(cancellationToken);
        foreach (var order in new[] { 1, 2 })
            await _bench.SendAsync("fulfil", WorkflowBench.Message("orders.accepted", $$"""{"order":{{order}}}"""), cancellationToken);
        await _bench.WaitForAsync(WorkflowState.Waiting, cancellationToken, count: 2);
    }

    private async Task ConfigureAsync(string steps, CancellationToken cancellationToken)
    {
        await _bench.KillAsync();
        _bench.Configure(Fulfil(steps));
        await _bench.StartAsync(cancellationToken);
        await _bench.ReviveAsync(cancellationToken);
    }
}
