using Esb.Core.Storage;
using Esb.Core.Workflows;
using Esb.Tests.Fakes;

namespace Esb.Tests.Workflows.Instances;

/// <summary>Instances end on the definition with which they began, whatever the configuration says meanwhile.</summary>
[CancelAfter(60_000)]
public sealed class WorkflowVersionTests
{
    [Test, Property("Case", "WFL-04")]
    public async Task Instance_ends_on_the_definition_with_which_it_began_also_after_a_restart(CancellationToken cancellationToken)
    {
        await using var bench = new WorkflowBench(Definition("out.first", "map.first"), Maps("first"));
        await bench.StartAsync(cancellationToken);
        await bench.SendAsync("fulfil", WorkflowBench.Message("orders.accepted", """{"order":1}"""), cancellationToken);
        await bench.KillAsync();

        bench.Configure(Definition("out.second", "map.first"), Maps("second"));
        await bench.StartAsync(cancellationToken);
        await bench.ReviveAsync(cancellationToken);
        await bench.SendAsync("fulfil", WorkflowBench.Message("orders.accepted", """{"order":2}"""), cancellationToken);
        foreach (var order in new[] { 1, 2 })
            await bench.SendAsync("fulfil", WorkflowBench.Message("stock.picked", $$"""{"order":{{order}}}"""), cancellationToken);

        await bench.WaitForAsync(WorkflowState.Completed, cancellationToken, count: 2);
        await Eventually.BecomesAsync(() => bench.Published.Count == 2, cancellationToken);
        Assert.That(
            bench.Published.Select(message => (message.Subject, message.Body.ReadText())),
            Is.EquivalentTo(new[] { ("out.first", "made by first"), ("out.second", "made by second") })
        );
        Assert.That((await bench.InstancesAsync(cancellationToken)).Select(instance => instance.Definition), Is.Unique);
    }

    [Test, Property("Case", "WFL-04")]
    public async Task Definition_that_this_process_has_never_seen_is_compiled_when_an_instance_of_it_goes_on(
        CancellationToken cancellationToken
    )
    {
        await using var bench = new WorkflowBench(Definition("out.first", "map.first"), Maps("first"));
        await bench.StartAsync(cancellationToken);
        await bench.SendAsync("fulfil", WorkflowBench.Message("orders.accepted", """{"order":1}"""), cancellationToken);
        await bench.KillAsync();

        bench.Configure(Definition("out.second", "map.first"), Maps("second"));
        await bench.StartAsync(cancellationToken); // as beside a host that began the instance meanwhile: nothing was made ready
        await bench.SendAsync("fulfil", WorkflowBench.Message("stock.picked", """{"order":1}"""), cancellationToken);

        await bench.WaitForAsync(WorkflowState.Completed, cancellationToken);
        await Eventually.BecomesAsync(() => !bench.Published.IsEmpty, cancellationToken);
        var made = bench.Published.Single();
        Assert.That((made.Subject, made.Body.ReadText()), Is.EqualTo(("out.first", "made by first")));
    }

    [TestCase("stock.newer", "stock.newer", Description = "only the newer definition receives the subject")]
    [TestCase("stock.picked", "stock.picked\", \"stock.newer", Description = "the newer one receives it in another way")]
    [Property("Case", "WFL-04")]
    public async Task Message_for_an_instance_of_a_newer_definition_reaches_it_through_a_host_of_the_revision_before(
        string subject,
        string subscribed,
        CancellationToken cancellationToken
    )
    {
        var newer = Definition("out.second", "map.first").Replace("\"stock.picked\"", $"[\"{subscribed}\"]", StringComparison.Ordinal);
        await using var bench = new WorkflowBench(newer, Maps("second"));
        await bench.StartAsync(cancellationToken);
        await bench.SendAsync("fulfil", WorkflowBench.Message("orders.accepted", """{"order":1}"""), cancellationToken);
        await bench.KillAsync();

        bench.Configure(Definition("out.first", "map.first"), Maps("first"));
        await bench.StartAsync(cancellationToken); // as beside the other host: nothing was made ready
        await bench.SendAsync("fulfil", WorkflowBench.Message(subject, """{"order":1}"""), cancellationToken);

        await bench.WaitForAsync(WorkflowState.Completed, cancellationToken);
        await Eventually.BecomesAsync(() => !bench.Published.IsEmpty, cancellationToken);
        Assert.That(bench.Published.Single().Subject, Is.EqualTo("out.second"));
        Assert.That(bench.LastSettlement, Is.SameAs(Esb.Core.Topics.Settlement.Done));
    }

    [Test, Property("Case", "WFL-04")]
    public async Task Instance_whose_definition_does_not_compile_any_more_is_suspended_until_it_does(CancellationToken cancellationToken)
    {
        const string Steps = """
            { "receive": { "subscribe": "stock.picked", "match": { "order": { "jsonpath": "$.order" } } } }
            """;
        const string Shop = """ "endpoints": { "shop": { "type": "http-outbound", "url": "http://localhost:1" } }, """;
        var before = Workflow(
            $$"""{{Steps}}, { "choose": { "when": [{ "if": { "header": "x-call" }, "steps": [{ "call": "shop" }] }] } }"""
        );
        await using var bench = new WorkflowBench(before, Shop);
        await bench.StartAsync(cancellationToken);
        await bench.SendAsync("fulfil", WorkflowBench.Message("orders.accepted", """{"order":1}"""), cancellationToken);
        await bench.KillAsync();

        bench.Configure(Workflow(Steps)); // the endpoint that the definition calls is gone
        await bench.StartAsync(cancellationToken);
        await bench.SendAsync("fulfil", WorkflowBench.Message("stock.picked", """{"order":1}"""), cancellationToken);
        var stopped = await bench.WaitForAsync(WorkflowState.Suspended, cancellationToken);
        await bench.KillAsync();
        bench.Configure(Workflow(Steps), Shop);
        await bench.StartAsync(cancellationToken);
        await bench.Control.RetryAsync(stopped.Id, skip: false, new OperatorDecision("ops", "the shop is back"), cancellationToken);

        await bench.WaitForAsync(WorkflowState.Completed, cancellationToken);
        Assert.That(stopped.Code, Is.EqualTo("ESB-WFL-VERSION"));
    }

    private static string Workflow(string steps) =>
        $$"""
            { "fulfil": {
                "start": "orders.accepted", "correlate": { "order": { "jsonpath": "$.order" } }, "steps": [{{steps}}] } }
            """;

    private static string Definition(string subject, string map) =>
        $$"""
            { "fulfil": {
                "start": "orders.accepted", "correlate": { "order": { "jsonpath": "$.order" } },
                "steps": [
                  { "receive": { "subscribe": "stock.picked", "match": { "order": { "jsonpath": "$.order" } } } },
                  { "transform": "{{map.Split('.')[0]}}" },
                  { "publish": "{{subject}}" } ] } }
            """;

    private static string Maps(string text) =>
        $$"""
            "maps": { "map": { "file": "map.liquid" } },
            /* {{text}} */
            """;
}
