using System.Text.Json.Nodes;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Workflows;
using Esb.Tests.Fakes;
using Esb.Workflows.Workflows.Engine;
using NSubstitute;

namespace Esb.Tests.Workflows.Instances;

/// <summary>Which instance takes a message, how often a step is tried, and how branches end, each rule shown once.</summary>
[CancelAfter(60_000)]
public sealed class WorkflowRuleTests
{
    private const string Match = """ "match": { "order": { "jsonpath": "$.order" } } """;
    private const string Shop = """ "endpoints": { "shop": { "type": "http-outbound", "url": "http://localhost:1" } }, """;

    private WorkflowBench _bench = null!;

    [TearDown]
    public async Task Stop() => await _bench.DisposeAsync();

    [Test]
    public async Task Key_that_is_added_later_finds_the_instance(CancellationToken cancellationToken)
    {
        await StartAsync(
            $$"""
            { "w": { "start": "orders.open", "correlate": { "order": { "jsonpath": "$.order" } }, "steps": [
                { "receive": { "subscribe": "stock.picked", {{Match}}, "as": "picked" } },
                { "set": { "use": "picked" } },
                { "correlate": { "parcel": { "jsonpath": "$.parcel" } } },
                { "receive": { "subscribe": "stock.sent", "match": { "parcel": { "jsonpath": "$.parcel" } } } },
                { "publish": "out.sent" } ] } }
            """,
            cancellationToken
        );

        await SendAsync("orders.open", """{"order":1}""", cancellationToken);
        await SendAsync("stock.picked", """{"order":1,"parcel":"p7"}""", cancellationToken);
        await SendAsync("stock.sent", """{"parcel":"p7"}""", cancellationToken);

        await _bench.WaitForAsync(WorkflowState.Completed, cancellationToken);
    }

    [Test]
    public async Task Message_goes_to_the_instance_that_has_waited_longest(CancellationToken cancellationToken)
    {
        await StartAsync(
            """
            { "w": { "start": "orders.open", "steps": [
                { "correlate": { "city": { "jsonpath": "$.city" } } },
                { "set": { "variables": { "order": { "jsonpath": "$.order" } } } },
                { "receive": { "subscribe": "stock.van", "match": { "city": { "jsonpath": "$.city" } } } },
                { "set": { "body": { "template": "{variable.order}" } } },
                { "publish": "out.loaded" } ] } }
            """,
            cancellationToken
        );
        foreach (var order in new[] { "1", "2", "3" })
        {
            await SendAsync("orders.open", $$"""{"order":"{{order}}","city":"Ulm"}""", cancellationToken);
            await _bench.WaitForAsync(WorkflowState.Waiting, cancellationToken, count: int.Parse(order));
        }

        for (var van = 1; van <= 3; van++)
        {
            await SendAsync("stock.van", """{"city":"Ulm"}""", cancellationToken);
            await Eventually.BecomesAsync(() => _bench.Published.Count == van, cancellationToken);
        }

        Assert.That(_bench.Published.Select(message => message.Body.ReadText()), Is.EqualTo(new[] { "1", "2", "3" }));
    }

    [TestCase("orders.open", "{}", 1)]
    [TestCase("bills.open", """{"large":true}""", 1)]
    [TestCase("bills.open", """{"large":false}""", 0)]
    public async Task Any_of_several_starts_begins_an_instance(
        string subject,
        string body,
        int instances,
        CancellationToken cancellationToken
    )
    {
        await StartAsync(
            """
            { "w": { "start": ["orders.open", { "subscribe": "bills.open", "if": { "jsonpath": "$.large", "equals": true } }],
                "steps": [{ "publish": "out.begun" }] } }
            """,
            cancellationToken
        );

        await SendAsync(subject, body, cancellationToken);

        Assert.That(await _bench.InstancesAsync(cancellationToken), Has.Count.EqualTo(instances));
    }

    [Test]
    public async Task Early_message_waits_without_limit_while_an_instance_with_its_keys_lives(CancellationToken cancellationToken)
    {
        await StartAsync(
            $$"""
            { "w": { "start": "orders.open", "correlate": { "order": { "jsonpath": "$.order" } }, "earlyMessages": "1s", "steps": [
                { "delay": "1h" }, { "receive": { "subscribe": "stock.picked", {{Match}} } }, { "publish": "out.done" } ] } }
            """,
            cancellationToken
        );
        await SendAsync("orders.open", """{"order":1}""", cancellationToken);
        var instance = await _bench.WaitForAsync(WorkflowState.Waiting, cancellationToken);
        var early = WorkflowBench.Message("stock.picked", """{"order":1}""");
        await _bench.SendAsync("w", early, cancellationToken);

        // As when its time is over.
        await _bench.Engine.FireAsync(
            new StoredTimer(Guid.NewGuid(), TimerKinds.Early, "w") { Data = early.Id.ToString() },
            cancellationToken
        );
        var kept = await _bench.Store.FindEarlyAsync("w", early.Id, cancellationToken);
        await _bench.Control.FireAsync(instance.Id, new OperatorDecision("ops", "go on"), cancellationToken);

        await _bench.WaitForAsync(WorkflowState.Completed, cancellationToken);
        Assert.That(kept, Is.Not.Null);
        Assert.That(await _bench.Letters(cancellationToken).AnyAsync(cancellationToken), Is.False);
    }

    [Test]
    public async Task Step_is_repeated_at_once_then_after_delays_with_one_id_and_then_suspends(CancellationToken cancellationToken)
    {
        var shop = Away();
        var ids = new List<Guid>();
        shop.WhenForAnyArgs(caller => caller.CallAsync(default!, default!, default, default))
            .Do(call => ids.Add(call.Arg<EsbMessage>().Id));
        await StartAsync(
            """
            { "w": { "start": "orders.open", "retry": { "immediate": 1, "delays": ["10ms", "10ms"] }, "steps": [
                { "call": "shop" } ] } }
            """,
            cancellationToken,
            shop
        );

        await SendAsync("orders.open", "{}", cancellationToken);

        var stopped = await _bench.WaitForAsync(WorkflowState.Suspended, cancellationToken);
        Assert.That((stopped.Code, stopped.Reason), Is.EqualTo(("ESB-AWAY", "The shop is away.")));
        Assert.That(ids, Has.Count.EqualTo(6), "three times, each with a repetition");
        Assert.That(ids.Distinct(), Has.Exactly(1).Items, "so that who is called recognises a repetition");
    }

    [Test]
    public async Task Visit_after_a_failure_that_was_caught_calls_with_an_id_of_its_own(CancellationToken cancellationToken)
    {
        var shop = Away();
        var ids = new List<Guid>();
        shop.WhenForAnyArgs(caller => caller.CallAsync(default!, default!, default, default))
            .Do(call => ids.Add(call.Arg<EsbMessage>().Id));
        await StartAsync(
            """
            { "w": { "start": "orders.open", "retry": { "immediate": 0 }, "steps": [
                { "forEach": { "items": { "jsonpath": "$[*]" }, "steps": [
                  { "try": { "steps": [{ "call": "shop" }], "catch": [{ "steps": [{ "log": "away" }] }] } }] } } ] } }
            """,
            cancellationToken,
            shop
        );

        await SendAsync("orders.open", "[1,2]", cancellationToken);

        await _bench.WaitForAsync(WorkflowState.Completed, cancellationToken);
        Assert.That(ids, Has.Count.EqualTo(2).And.Unique);
    }

    [Test]
    public async Task Each_visit_of_a_step_calls_with_an_id_of_its_own(CancellationToken cancellationToken)
    {
        var shop = Substitute.For<IEndpointCaller>();
        var ids = new List<Guid>();
        shop.CallAsync(default!, default!, default, default)
            .ReturnsForAnyArgs(call =>
            {
                ids.Add(call.Arg<EsbMessage>().Id);
                return (EsbMessage?)call.Arg<EsbMessage>().Reply(MessageBody.FromText("{}"), TimeProvider.System);
            });
        await StartAsync(
            """
            { "w": { "start": "orders.open", "steps": [
                { "forEach": { "items": { "jsonpath": "$[*]" }, "steps": [{ "call": "shop" }] } } ] } }
            """,
            cancellationToken,
            shop
        );

        await SendAsync("orders.open", "[1,2,3]", cancellationToken);

        await _bench.WaitForAsync(WorkflowState.Completed, cancellationToken);
        Assert.That(ids, Has.Count.EqualTo(3).And.Unique);
    }

    [Test]
    public async Task Step_that_fails_on_purpose_is_not_repeated_and_one_that_filters_ends_the_instance(CancellationToken cancellationToken)
    {
        await StartAsync(
            """
            { "failing": { "start": "orders.open", "retry": { "delays": ["1h"] }, "steps": [
                { "fail": { "code": "SHOP-1", "reason": "closed" } } ] },
              "filtering": { "start": "orders.open", "steps": [
                { "filter": { "jsonpath": "$.large", "equals": true } }, { "publish": "out.never" } ] } }
            """,
            cancellationToken
        );

        await _bench.SendAsync("failing", WorkflowBench.Message("orders.open", "{}"), cancellationToken);
        await _bench.SendAsync("filtering", WorkflowBench.Message("orders.open", """{"large":false}"""), cancellationToken);

        var stopped = await _bench.WaitForAsync(WorkflowState.Suspended, cancellationToken);
        var ended = await _bench.WaitForAsync(WorkflowState.Completed, cancellationToken);
        Assert.That((stopped.Workflow, stopped.Code), Is.EqualTo(("failing", "SHOP-1")));
        Assert.That(ended.Workflow, Is.EqualTo("filtering"));
        Assert.That(_bench.Published, Is.Empty);
    }

    [Test]
    public async Task Branches_join_when_so_many_have_ended_and_the_others_are_cancelled(CancellationToken cancellationToken)
    {
        await StartAsync(
            $$"""
            { "w": { "start": "orders.open", "correlate": { "order": { "jsonpath": "$.order" } }, "steps": [
                { "parallel": { "join": 2, "branches": {
                  "first": [{ "publish": "out.first" }],
                  "second": [{ "delay": "1s" }, { "publish": "out.second" }],
                  "third": [{ "receive": { "subscribe": "stock.picked", {{Match}} } }, { "publish": "out.third" }] } } },
                { "publish": "out.joined" } ] } }
            """,
            cancellationToken
        );

        await SendAsync("orders.open", """{"order":1}""", cancellationToken);

        await _bench.WaitForAsync(WorkflowState.Completed, cancellationToken);
        await Eventually.BecomesAsync(() => _bench.Subjects.Contains("out.joined"), cancellationToken);
        Assert.That(_bench.Subjects, Is.EqualTo(new[] { "out.first", "out.second", "out.joined" }));
    }

    [Test]
    public async Task Branch_that_fails_cancels_the_others_and_fails_the_step(CancellationToken cancellationToken)
    {
        await StartAsync(
            """
            { "w": { "start": "orders.open", "steps": [
                { "try": {
                  "steps": [{ "parallel": { "branches": {
                    "long": [{ "delay": "1h" }, { "publish": "out.never" }],
                    "bad": [{ "fail": { "code": "SHOP-1", "reason": "closed" } }] } } }],
                  "catch": [{ "codes": ["SHOP-1"], "steps": [{ "publish": "out.caught" }] }] } } ] } }
            """,
            cancellationToken
        );

        await SendAsync("orders.open", "{}", cancellationToken);

        await _bench.WaitForAsync(WorkflowState.Completed, cancellationToken);
        await Eventually.BecomesAsync(() => !_bench.Published.IsEmpty, cancellationToken);
        Assert.That(_bench.Subjects, Is.EqualTo(new[] { "out.caught" }));
    }

    [Test]
    public async Task Variables_that_are_too_large_together_suspend(CancellationToken cancellationToken)
    {
        var sets = string.Join(
            ", ",
            Enumerable.Range(1, 5).Select(number => $$"""{ "set": { "variables": { "v{{number}}": { "message": "body" } } } }""")
        );
        await StartAsync($$"""{ "w": { "start": "orders.open", "steps": [{{sets}}, { "publish": "out.never" }] } }""", cancellationToken);

        await SendAsync("orders.open", $"\"{new string('x', 1_000_000)}\"", cancellationToken);

        var stopped = await _bench.WaitForAsync(WorkflowState.Suspended, cancellationToken);
        Assert.That(stopped.Code, Is.EqualTo("ESB-WFL-STATE"));
        Assert.That(stopped.Reason, Does.StartWith("The variables together are larger than 4194304 bytes; the largest is 'v"));
    }

    [Test]
    public async Task Edit_of_a_variable_is_recorded_with_the_digests_before_and_after(CancellationToken cancellationToken)
    {
        await StartAsync(
            """
            { "w": { "start": "orders.open", "steps": [
                { "set": { "variables": { "total": "1" } } }, { "delay": "1h" },
                { "set": { "body": { "variable": "total" } } }, { "publish": "out.done" } ] } }
            """,
            cancellationToken
        );
        await SendAsync("orders.open", "{}", cancellationToken);
        var waiting = await _bench.WaitForAsync(WorkflowState.Waiting, cancellationToken);
        var decision = new OperatorDecision("ops", "a typing error");

        await _bench.Control.SetVariablesAsync(waiting.Id, new JsonObject { ["total"] = "2" }, decision, cancellationToken);
        await _bench.Control.FireAsync(waiting.Id, decision, cancellationToken);

        await _bench.WaitForAsync(WorkflowState.Completed, cancellationToken);
        await Eventually.BecomesAsync(() => !_bench.Published.IsEmpty, cancellationToken);
        var edited = (await _bench.Store.HistoryAsync(waiting.Id, 1, 1, cancellationToken)).Single();
        Assert.That(_bench.Published.Single().Body.ReadText(), Is.EqualTo("2"));
        Assert.That(edited.Steps, Does.Match("total: [0-9a-f]{16} became [0-9a-f]{16}").And.Contain("by ops: a typing error"));
        Assert.That(_bench.Audit.Facts.Select(fact => fact.Name), Does.Contain("variables by ops"));
    }

    private static IEndpointCaller Away()
    {
        var shop = Substitute.For<IEndpointCaller>();
        shop.CallAsync(default!, default!, default, default)
            .ReturnsForAnyArgs<EsbMessage?>(_ => throw new EsbException("ESB-AWAY", "The shop is away.", FaultKind.Unavailable));
        return shop;
    }

    private Task SendAsync(string subject, string body, CancellationToken cancellationToken) =>
        _bench.SendAsync("w", WorkflowBench.Message(subject, body), cancellationToken);

    private async Task StartAsync(string workflows, CancellationToken cancellationToken, IEndpointCaller? shop = null)
    {
        _bench = new WorkflowBench(workflows, shop is null ? "" : Shop) { Caller = shop };
        await _bench.StartAsync(cancellationToken);
    }
}
