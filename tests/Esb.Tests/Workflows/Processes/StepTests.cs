using System.Text.Json;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Topics;
using NSubstitute;
using NSubstitute.ExceptionExtensions;

namespace Esb.Tests.Workflows.Processes;

[FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class StepTests : IDisposable
{
    private static readonly EsbMessage Order = Some.Message("""<order id="A-1"><total>1200</total></order>""");

    private CompiledProcesses? _processes;

    public void Dispose() => _processes?.Dispose();

    [TestCase("1000", "large"), TestCase("2000", "small"), CancelAfter(30_000)]
    public async Task Choose_runs_the_first_branch_that_holds_or_else_the_otherwise(
        string limit,
        string expected,
        CancellationToken cancellationToken
    )
    {
        Compile(
            $$"""
            { "main": [{ "choose": {
                "when": [{ "if": { "xpath": "/order/total > {{limit}}" }, "steps": [{ "set": { "properties": { "size": "large" } } }] }],
                "otherwise": [{ "set": { "properties": { "size": "small" } } }] } }] }
            """
        );

        var context = await _processes!.RunAsync(Order, cancellationToken);

        Assert.That(context.GetProperty("size"), Is.EqualTo(expected));
    }

    [Test, CancelAfter(30_000)]
    public async Task Set_puts_values_into_headers_and_leaves_the_received_message_alone(CancellationToken cancellationToken)
    {
        Compile("""{ "main": [{ "set": { "headers": { "x-order": { "xpath": "/order/@id" } } } }] }""");

        var context = await _processes!.RunAsync(Order, cancellationToken);

        Assert.Multiple(() =>
        {
            Assert.That(context.Message.Headers["X-Order"], Is.EqualTo("A-1"));
            Assert.That(context.Message.Body, Is.SameAs(Order.Body), "a header change never copies the body");
            Assert.That(context.Received.Headers, Is.Empty);
        });
    }

    [Test, CancelAfter(30_000)]
    public void Set_refuses_a_value_that_would_break_a_header_line(CancellationToken cancellationToken)
    {
        Compile(
            """{ "main": [{ "set": { "headers": { "x-order": { "xpath": "string(/order)" } }, "properties": { "seen": "yes" } } }] }"""
        );
        var context = Some.Context("<order>a&#13;&#10;b: c</order>");

        var failure = Assert.ThrowsAsync<EsbException>(() => _processes!.RunAsync(context, cancellationToken));

        Assert.That(failure!.Code, Is.EqualTo("ESB-HDR-VALUE"));
        Assert.That(context.GetProperty("seen"), Is.Null, "a step that fails sets nothing");
    }

    [Test, CancelAfter(30_000)]
    public async Task What_catches_the_failure_of_a_process_that_was_run_belongs_to_its_caller(CancellationToken cancellationToken)
    {
        Compile(
            """
            { "main": [{ "try": { "steps": [{ "run": "other" }], "catch": [{ "steps": [{ "set": { "properties": { "caught": "yes" } } }] }] } }],
              "other": [{ "fail": "No." }] }
            """
        );

        var context = await _processes!.RunAsync(Order, cancellationToken);

        Assert.That((context.GetProperty("caught"), context.Process), Is.EqualTo(("yes", "main")));
    }

    [Test, CancelAfter(10_000)]
    public async Task Filter_that_does_not_hold_ends_the_process(CancellationToken cancellationToken)
    {
        Compile("""{ "main": [{ "filter": { "xpath": "/order/total > 5000" } }, { "publish": "orders.new" }] }""");

        var context = await _processes!.RunAsync(Order, cancellationToken);

        Assert.That(context.Outcome, Is.EqualTo(ProcessOutcome.Filtered));
        await _processes.Publisher.DidNotReceiveWithAnyArgs().PublishAsync(default!, default!, default!, default);
    }

    [Test, CancelAfter(30_000)]
    public async Task Publish_hands_the_message_to_the_topic(CancellationToken cancellationToken)
    {
        Compile("""{ "main": [{ "publish": "orders.new" }, { "id": "second", "publish": { "subject": "orders.copy" } }] }""");

        await _processes!.RunAsync(Order, cancellationToken);

        await _processes
            .Publisher.Received(1)
            .PublishAsync(Arg.Any<MessageContext>(), new Subject("orders.new"), "processes.main[0].publish", Arg.Any<CancellationToken>());
        await _processes
            .Publisher.Received(1)
            .PublishAsync(Arg.Any<MessageContext>(), new Subject("orders.copy"), "second", Arg.Any<CancellationToken>());
    }

    [Test, CancelAfter(30_000)]
    public async Task Call_makes_the_answer_the_message_and_its_status_a_property(CancellationToken cancellationToken)
    {
        Compile("""{ "main": [{ "call": { "endpoint": "backend", "expect": "any" } }] }""");
        Answer("not here", status: 404);

        var context = await _processes!.RunAsync(Order, cancellationToken);

        Assert.Multiple(() =>
        {
            Assert.That(context.Message.Body.ReadText(), Is.EqualTo("not here"));
            Assert.That(context.GetProperty("status"), Is.EqualTo(404));
            Assert.That(context.Message.Headers[EsbHeaders.Status], Is.Null);
            Assert.That(context.Message.ConversationId, Is.EqualTo(Order.ConversationId));
        });
    }

    [Test, CancelAfter(30_000)]
    public void Call_beyond_its_maximum_instances_times_out(CancellationToken cancellationToken)
    {
        Compile("""{ "main": [{ "call": { "endpoint": "backend", "maximumInstances": 1, "poolTimeout": "20ms" } }] }""");
        var answer = new TaskCompletionSource<EsbMessage?>();
        _processes!.Caller.CallAsync(default!, default!, default, default).ReturnsForAnyArgs(_ => new ValueTask<EsbMessage?>(answer.Task));
        var first = _processes.RunAsync(Order, cancellationToken);

        var failure = Assert.ThrowsAsync<PoolTimeoutException>(() => _processes.RunAsync(Order, cancellationToken));

        answer.SetResult(null);
        Assert.That(failure!.Message, Does.Contain("processes.main[0].call"));
        Assert.That(() => first, Throws.Nothing);
    }

    [Test, CancelAfter(30_000)]
    public async Task Run_goes_through_another_process_and_back(CancellationToken cancellationToken)
    {
        Compile(
            """
            { "main": [{ "run": "other" }, { "set": { "properties": { "after": "yes" } } }],
              "other": [{ "set": { "properties": { "inside": "yes" } } }] }
            """
        );

        var context = await _processes!.RunAsync(Order, cancellationToken);

        Assert.That((context.GetProperty("inside"), context.GetProperty("after"), context.Process), Is.EqualTo(("yes", "yes", "main")));
    }

    [Test, CancelAfter(30_000)]
    public async Task Respond_makes_an_answer_and_ends_the_process(CancellationToken cancellationToken)
    {
        Compile(
            """
            { "main": [{ "respond": { "status": 201, "headers": { "x-order": { "xpath": "/order/@id" } }, "body": { "ok": true } } }, { "publish": "orders.new" }] }
            """
        );

        var context = await _processes!.RunAsync(Order, cancellationToken);

        Assert.Multiple(() =>
        {
            Assert.That(context.Outcome, Is.EqualTo(ProcessOutcome.Responded));
            Assert.That(context.GetProperty("status"), Is.EqualTo(201));
            Assert.That(context.Message.ContentType, Is.EqualTo("application/json"));
            Assert.That(context.Message.Headers["x-order"], Is.EqualTo("A-1"));
            Assert.That(JsonDocument.Parse(context.Message.Body.Bytes).RootElement.GetProperty("ok").GetBoolean(), Is.True);
        });
    }

    [Test, CancelAfter(30_000)]
    public void Fail_refuses_with_the_reason_status_and_code_of_the_configuration(CancellationToken cancellationToken)
    {
        Compile("""{ "main": [{ "fail": { "reason": "we are closed", "status": 409, "code": "SHOP-CLOSED" } }] }""");

        var failure = Assert.ThrowsAsync<EsbException>(() => _processes!.RunAsync(Order, cancellationToken));

        Assert.That((failure!.Message, failure.Status, failure.Code), Is.EqualTo(("we are closed", 409, "SHOP-CLOSED")));
    }

    [Test, CancelAfter(30_000), Property("Case", "XPT-10")]
    public void A_message_that_no_route_takes_is_refused_with_a_code_of_its_own(CancellationToken cancellationToken)
    {
        Compile(
            """
            { "main": [{ "choose": {
                "when": [{ "if": { "xpath": "/invoice" }, "steps": [{ "publish": "orders.new" }] }],
                "otherwise": [{ "fail": { "code": "ESB-ROUTE-NONE", "reason": "no route" } }] } }] }
            """
        );

        var failure = Assert.ThrowsAsync<EsbException>(() => _processes!.RunAsync(Order, cancellationToken));

        Assert.That((failure!.Code, failure.Kind), Is.EqualTo(("ESB-ROUTE-NONE", FaultKind.Invalid)));
    }

    [TestCase("ESB-PROC-*"), TestCase("ESB-PROC-REFUSED"), CancelAfter(30_000)]
    public async Task Try_runs_the_branch_that_catches_the_code_and_the_last_steps(string code, CancellationToken cancellationToken)
    {
        Compile(
            $$"""
            { "main": [{ "try": {
                "steps": [{ "fail": "no" }],
                "catch": [{ "codes": ["ESB-OTHER"], "steps": [{ "fail": "wrong branch" }] },
                          { "codes": ["{{code}}"], "steps": [{ "set": { "properties": { "why": { "property": "error.reason" } } } }] }],
                "finally": [{ "set": { "properties": { "last": "yes" } } }] } }] }
            """
        );

        var context = await _processes!.RunAsync(Order, cancellationToken);

        Assert.That((context.GetProperty("why"), context.GetProperty("last")), Is.EqualTo(("no", "yes")));
    }

    [Test, CancelAfter(30_000)]
    public async Task Try_lets_other_failures_through_after_the_last_steps(CancellationToken cancellationToken)
    {
        Compile(
            """
            { "main": [{ "try": {
                "steps": [{ "fail": "no" }],
                "catch": [{ "codes": ["ESB-OTHER"], "steps": [] }],
                "finally": [{ "publish": "orders.failed" }] } }] }
            """
        );

        Assert.ThrowsAsync<EsbException>(() => _processes!.RunAsync(Order, cancellationToken));
        await _processes!.Publisher.ReceivedWithAnyArgs(1).PublishAsync(default!, default!, default!, default);
    }

    [Test, CancelAfter(30_000)]
    public async Task Try_runs_the_last_steps_also_when_an_answer_ended_the_process(CancellationToken cancellationToken)
    {
        Compile(
            """
            { "main": [{ "try": { "steps": [{ "respond": { "status": 200 } }], "finally": [{ "publish": "orders.seen" }] } }, { "publish": "orders.never" }] }
            """
        );

        var context = await _processes!.RunAsync(Order, cancellationToken);

        Assert.That(context.Outcome, Is.EqualTo(ProcessOutcome.Responded));
        await _processes.Publisher.ReceivedWithAnyArgs(1).PublishAsync(default!, default!, default!, default);
    }

    [Test, CancelAfter(30_000)]
    public async Task Try_runs_the_last_steps_also_when_the_time_of_the_process_is_over(CancellationToken cancellationToken)
    {
        Compile("""{ "main": [{ "try": { "steps": [{ "call": "backend" }], "finally": [{ "publish": "orders.unlocked" }] } }] }""");
        using var over = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        _processes!
            .Caller.CallAsync(default!, default!, default, default)
            .ThrowsForAnyArgs(_ =>
            {
                over.Cancel();
                return new OperationCanceledException(over.Token);
            });

        Assert.ThrowsAsync<OperationCanceledException>(() => _processes.RunAsync(Order, over.Token));
        await _processes
            .Publisher.Received(1)
            .PublishAsync(
                Arg.Any<MessageContext>(),
                Arg.Any<Subject>(),
                Arg.Any<string>(),
                Arg.Is<CancellationToken>(token => !token.IsCancellationRequested)
            );
    }

    [Test, CancelAfter(30_000)]
    public void Last_steps_that_fail_after_the_time_is_over_do_not_hide_that_it_is(CancellationToken cancellationToken)
    {
        Compile("""{ "main": [{ "try": { "steps": [{ "call": "backend" }], "finally": [{ "publish": "orders.unlocked" }] } }] }""");
        using var over = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        _processes!
            .Caller.CallAsync(default!, default!, default, default)
            .ThrowsForAnyArgs(_ =>
            {
                over.Cancel();
                return new OperationCanceledException(over.Token);
            });
        _processes
            .Publisher.PublishAsync(default!, default!, default!, default)
            .ThrowsForAnyArgs(new EsbException("ESB-TOPIC-UNAVAILABLE", "The broker is away.", FaultKind.Unavailable));

        Assert.ThrowsAsync<OperationCanceledException>(() => _processes.RunAsync(Order, over.Token));
    }

    [Test, CancelAfter(30_000)]
    public void Cancellation_is_caught_by_nobody(CancellationToken cancellationToken)
    {
        Compile("""{ "main": [{ "try": { "steps": [{ "call": "backend" }], "catch": [{ "steps": [] }] } }] }""");
        _processes!.Caller.CallAsync(default!, default!, default, default).ThrowsForAnyArgs(new OperationCanceledException());

        Assert.ThrowsAsync<OperationCanceledException>(() => _processes.RunAsync(Order, cancellationToken));
    }

    [Test]
    public void Process_is_described_by_its_steps()
    {
        Compile("""{ "main": [{ "choose": { "when": [] } }, { "set": {} }, { "publish": "orders.new" }] }""");

        Assert.That(_processes!.Describe(), Is.EqualTo("choose(0) → set → publish(orders.new)"));
    }

    private void Compile(string processes) => _processes = new CompiledProcesses(processes);

    private void Answer(string body, int status)
    {
        var answer = Some.Message(body) with { Headers = MessageHeaders.Empty.With(EsbHeaders.Status, $"{status}") };
        _processes!.Caller.CallAsync("backend", default!, default, default).ReturnsForAnyArgs(new ValueTask<EsbMessage?>(answer));
    }
}
