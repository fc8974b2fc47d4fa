using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Tests.Fakes;
using NSubstitute;

namespace Esb.Tests.Workflows.Processes;

[CancelAfter(30_000)]
public sealed class StepTraceTests
{
    private const string Map = """
        <xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/"><done/></xsl:template></xsl:stylesheet>
        """;

    private readonly ManualTime _time = new();

    [Test]
    public async Task Each_step_that_goes_well_leaves_a_fact_of_the_message_that_came_in(CancellationToken cancellationToken)
    {
        using var processes = new CompiledProcesses(
            """
            { "main": [
                { "id": "note", "set": { "properties": { "seen": true } } },
                { "choose": { "when": [{ "if": { "property": "seen" }, "steps": [{ "id": "ask", "call": "backend" }] }] } },
                { "publish": "orders.new" },
                { "run": "inner" } ],
              "inner": [{ "id": "answer", "respond": { "body": "done" } }] }
            """
        );
        processes
            .Caller.CallAsync(default!, default!, default, default)
            .ReturnsForAnyArgs(_ =>
            {
                _time.Advance(TimeSpan.FromSeconds(2));
                return default(EsbMessage);
            });
        var context = ContextOf(keepsTransforms: false);

        await processes.RunAsync(context, cancellationToken);

        var facts = context.Steps!.Take().Select(step => step.Fact).ToList();
        Assert.That(
            facts.Select(fact => (fact.Kind, fact.Endpoint, fact.Process, fact.Step, fact.Duration)),
            Is.EqualTo(
                new (AuditKind, string?, string?, string?, TimeSpan?)[]
                {
                    (AuditKind.StepEnded, "in", "main", "note", TimeSpan.Zero),
                    (AuditKind.Delivered, "backend", "main", "ask", TimeSpan.FromSeconds(2)),
                    (AuditKind.StepEnded, "in", "inner", "answer", TimeSpan.Zero),
                }
            )
        );
        Assert.That(facts.Select(fact => fact.MessageId), Is.All.EqualTo(context.Received.Id));
    }

    [TestCase(true), TestCase(false)]
    public async Task Step_that_transforms_keeps_the_message_before_and_after_where_that_is_wanted(
        bool isWanted,
        CancellationToken cancellationToken
    )
    {
        using var processes = new CompiledProcesses("""{ "main": [{ "id": "map", "transform": "done" }] }""", maps: [("done", Map)]);
        var context = ContextOf(isWanted, "<order/>");

        await processes.RunAsync(context, cancellationToken);

        var steps = context.Steps!.Take();
        Assert.That(
            steps.Select(step => (step.Fact.Name, step.Fact.Duration is not null)),
            Is.EqualTo(isWanted ? [("before", false), ("after", true)] : new (string?, bool)[] { (null, true) })
        );
        string?[] contents = isWanted ? ["<order/>", context.Message.Body.ReadText()] : [null];
        Assert.That(steps.Select(step => step.Content?.Body.ReadText()), Is.EqualTo(contents));
    }

    [Test]
    public async Task Failure_that_is_caught_is_a_fact_with_its_code(CancellationToken cancellationToken)
    {
        using var processes = new CompiledProcesses(
            """{ "main": [{ "try": { "steps": [{ "id": "refuse", "fail": { "code": "APP-NO", "reason": "no" } }], "catch": [{ "steps": [] }] } }] }"""
        );
        var context = ContextOf(keepsTransforms: false);

        await processes.RunAsync(context, cancellationToken);

        Assert.That(
            context.Steps!.Take().Select(step => (step.Fact.Step, step.Fact.Code, step.Fact.Reason)),
            Is.EqualTo(new[] { ("refuse", "APP-NO", "no") })
        );
        Assert.That(context.FailedStep, Is.Null);
    }

    [Test]
    public void Step_that_fails_is_left_to_the_fact_of_the_failure(CancellationToken cancellationToken)
    {
        using var processes = new CompiledProcesses("""{ "main": [{ "id": "refuse", "fail": "no" }] }""");
        var context = ContextOf(keepsTransforms: false);

        Assert.That(() => processes.RunAsync(context, cancellationToken), Throws.TypeOf<EsbException>());

        Assert.That((context.FailedStep, context.Steps!.Take().Count), Is.EqualTo(("refuse", 0)));
    }

    [Test]
    public async Task Call_in_a_transaction_is_not_said_to_be_delivered(CancellationToken cancellationToken)
    {
        using var processes = new CompiledProcesses(
            """{ "main": [{ "transaction": { "connection": "shop", "steps": [{ "id": "insert", "call": "shop-db" }] } }] }"""
        );
        processes.Transactions.BeginAsync(default!, default, default).ReturnsForAnyArgs(Substitute.For<IUnitOfWork>());
        var context = ContextOf(keepsTransforms: false);

        await processes.RunAsync(context, cancellationToken);

        var fact = context.Steps!.Take().Single().Fact;
        Assert.That((fact.Kind, fact.Endpoint, fact.Step), Is.EqualTo((AuditKind.StepEnded, "in", "insert")));
    }

    private MessageContext ContextOf(bool keepsTransforms, string body = "{}") =>
        new(Some.Message(body), "in") { Steps = new StepLog(_time, keepsTransforms) };
}
