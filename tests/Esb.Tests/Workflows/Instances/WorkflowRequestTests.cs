using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Core.Workflows;
using Esb.Tests.Fakes;

namespace Esb.Tests.Workflows.Instances;

/// <summary>Requests of workflows, whose replies may come to another life of the process.</summary>
[CancelAfter(60_000)]
public sealed class WorkflowRequestTests
{
    private WorkflowBench _bench = null!;

    [TearDown]
    public async Task Stop() => await _bench.DisposeAsync();

    [Test]
    public async Task Reply_has_its_effect_once_whatever_commit_the_process_ends_at(
        [Values(1, 2)] int commit,
        [Values] bool after,
        CancellationToken cancellationToken
    )
    {
        await StartAsync("""[{ "id": "ask", "request": "stock.ask" }, { "publish": "out.done" }]""", cancellationToken);
        (_bench.Gate.DiesAt, _bench.Gate.DiesAfter) = (commit, after);
        var order = WorkflowBench.Message("orders.new", """{ "order": 1 }""");

        await UntilItLivesAsync(() => _bench.SendAsync("ask", order, cancellationToken), cancellationToken);
        await Eventually.BecomesAsync(() => _bench.Subjects.Contains("stock.ask"), cancellationToken);
        var request = _bench.Published.First(message => message.Subject == "stock.ask");
        await _bench.KillAsync();
        await _bench.StartAsync(cancellationToken); // between request and reply
        if (commit == 2)
            (_bench.Gate.DiesAt, _bench.Gate.DiesAfter) = (1, after);
        var reply = request.Reply(MessageBody.FromText("42"), TimeProvider.System);
        await UntilItLivesAsync(() => _bench.Engine.ReceiveReplyAsync(request.Id, reply, cancellationToken), cancellationToken);
        await _bench.Engine.ReceiveReplyAsync(request.Id, reply, cancellationToken); // the queue delivers it once more

        var ended = await _bench.WaitForAsync(WorkflowState.Completed, cancellationToken);
        await Eventually.BecomesAsync(() => _bench.Subjects.Contains("out.done"), cancellationToken);
        var history = await _bench.Store.HistoryAsync(ended.Id, 0, 100, cancellationToken);
        using (Assert.EnterMultipleScope())
        {
            Assert.That(_bench.Subjects.Order(), Is.EqualTo(new[] { "out.done", "stock.ask" }), "asked under one id");
            Assert.That(_bench.Published.Last(message => message.Subject == "out.done").Body.ReadText(), Is.EqualTo("42"));
            Assert.That(history.Select(line => line.Version), Is.EqualTo(new[] { 1, 2 }));
            Assert.That(_bench.Audit.Facts.Last().Kind, Is.EqualTo(AuditKind.ReplyAbandoned), "the second copy");
            Assert.That(_bench.Audit.Facts.Last().Code, Is.EqualTo("ESB-WFL-LATE"));
        }
    }

    [Test]
    public async Task Time_without_a_reply_fails_the_step_and_a_late_reply_has_no_effect(CancellationToken cancellationToken)
    {
        await StartAsync(
            """
            [{ "try": {
                "steps": [{ "id": "ask", "request": { "subject": "stock.ask", "timeout": "500ms" } }],
                "catch": [{ "codes": ["ESB-REQUEST-TIMEOUT"], "steps": [{ "publish": "late.known" }, { "delay": "1s" }] }] } },
             { "publish": "out.done" }]
            """,
            cancellationToken
        );
        var request = await AskAsync(cancellationToken);
        await Eventually.BecomesAsync(() => _bench.Subjects.Contains("late.known"), cancellationToken);

        await _bench.Engine.ReceiveReplyAsync(request.Id, ReplyTo(request), cancellationToken);

        await _bench.WaitForAsync(WorkflowState.Completed, cancellationToken);
        await Eventually.BecomesAsync(() => _bench.Subjects.Contains("out.done"), cancellationToken);
        Assert.That(
            _bench.Published.Last(message => message.Subject == "out.done").Body.ReadText(),
            Is.EqualTo("""{ "order": 1 }"""),
            "not the reply"
        );
        Assert.That(_bench.Audit.Facts.Count(fact => fact.Code == "ESB-WFL-LATE"), Is.EqualTo(1));
    }

    [Test]
    public async Task Fault_that_may_pass_is_asked_again_under_another_id_and_any_other_is_caught(CancellationToken cancellationToken)
    {
        await StartAsync(
            """
            [{ "try": {
                "steps": [{ "id": "ask", "request": "stock.ask" }],
                "catch": [{ "codes": ["SHOP-1"], "steps": [{ "set": { "body": { "template": "{property.error.reason}" } } }] }] } },
             { "publish": "out.done" }]
            """,
            cancellationToken,
            retry: """{ "immediate": 1 }"""
        );
        var first = await AskAsync(cancellationToken);

        await RefuseAsync(first, new EsbException("SHOP-0", "away", FaultKind.Unavailable));
        await Eventually.BecomesAsync(() => Requests().Count == 2, cancellationToken);
        await RefuseAsync(Requests()[1], new EsbException("SHOP-1", "sold out", FaultKind.Invalid));

        await _bench.WaitForAsync(WorkflowState.Completed, cancellationToken);
        await Eventually.BecomesAsync(() => _bench.Subjects.Contains("out.done"), cancellationToken);
        using (Assert.EnterMultipleScope())
        {
            Assert.That(Requests(), Has.Count.EqualTo(2));
            Assert.That(_bench.Published.Last(message => message.Subject == "out.done").Body.ReadText(), Is.EqualTo("sold out"));
            Assert.That(
                _bench.Audit.Facts.Where(fact => fact.Kind == AuditKind.Replied).Select(fact => (fact.MessageId, fact.Code)),
                Is.EqualTo(new[] { (first.Id, "SHOP-0"), (Requests()[1].Id, "SHOP-1") })
            );
        }

        Task RefuseAsync(EsbMessage request, EsbException failure) =>
            _bench.Engine.ReceiveReplyAsync(request.Id, FaultReply.Of(request, failure, TimeProvider.System), cancellationToken);
    }

    [Test]
    public async Task Reply_to_a_suspended_instance_waits_until_an_operator_lets_it_go_on(CancellationToken cancellationToken)
    {
        await StartAsync(
            """
            [{ "parallel": { "branches": {
                "ask": [{ "id": "ask", "request": "stock.ask" }, { "publish": "out.answered" }],
                "fail": [{ "delay": "1s" }, { "id": "broken", "fail": { "code": "SHOP-1", "reason": "broken" } }] } } }]
            """,
            cancellationToken
        );
        var request = await AskAsync(cancellationToken);
        var suspended = await _bench.WaitForAsync(WorkflowState.Suspended, cancellationToken);

        await _bench.Engine.ReceiveReplyAsync(request.Id, ReplyTo(request), cancellationToken);
        await _bench.KillAsync();
        await _bench.StartAsync(cancellationToken);
        var before = _bench.Subjects.ToList();
        await _bench.Control.RetryAsync(suspended.Id, skip: true, new OperatorDecision("ops", null), cancellationToken);

        await _bench.WaitForAsync(WorkflowState.Completed, cancellationToken);
        await Eventually.BecomesAsync(() => _bench.Subjects.Contains("out.answered"), cancellationToken);
        Assert.That(before, Does.Not.Contain("out.answered"));
    }

    [TestCase("""{ "request": { "subject": "stock.ask", "timeout": "2h" } }""", 0)]
    [TestCase("""{ "try": { "steps": [{ "request": { "subject": "stock.ask", "timeout": "2h" } }], "catch": [{ "steps": [] }] } }""", 0)]
    [TestCase("""{ "enrich": { "request": { "subject": "stock.ask", "timeout": "2h" }, "into": "a" } }""", 1)]
    public void Long_wait_is_one_of_the_workflow_and_not_of_a_step_that_runs_as_a_whole(string step, int errors)
    {
        var start = async () => await StartAsync($"[{step}]", CancellationToken.None);

        if (errors == 0)
            Assert.That(start, Throws.Nothing);
        else
            Assert.That(start, Throws.Exception.With.Message.Contains("ESB-CFG-RANGE"));
    }

    private List<EsbMessage> Requests() =>
        [.. _bench.Published.Where(message => message.Subject == "stock.ask").DistinctBy(message => message.Id)];

    private static EsbMessage ReplyTo(EsbMessage request) => request.Reply(MessageBody.FromText("42"), TimeProvider.System);

    private async Task<EsbMessage> AskAsync(CancellationToken cancellationToken)
    {
        await _bench.SendAsync("ask", WorkflowBench.Message("orders.new", """{ "order": 1 }"""), cancellationToken);
        await Eventually.BecomesAsync(() => Requests().Count == 1, cancellationToken);
        return Requests()[0];
    }

    private async Task UntilItLivesAsync(Func<Task> work, CancellationToken cancellationToken)
    {
        while (true)
        {
            try
            {
                await work();
                return;
            }
            catch (EsbException) when (_bench.Gate.IsDead)
            {
                await _bench.KillAsync();
                await _bench.StartAsync(cancellationToken);
            }
        }
    }

    private Task StartAsync(string steps, CancellationToken cancellationToken, string retry = """{ "immediate": 0 }""")
    {
        _bench = new WorkflowBench($$"""{ "ask": { "start": "orders.new", "retry": {{retry}}, "steps": {{steps}} } }""");
        return _bench.StartAsync(cancellationToken);
    }
}
