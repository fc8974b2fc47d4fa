using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Marks;
using Esb.Core.Messages;
using Esb.Core.Topics;
using Esb.Core.Workflows;
using Esb.Tests.Fakes;
using Esb.Workflows.Workflows.Entries;
using NSubstitute;

namespace Esb.Tests.Workflows.Instances;

/// <summary>Callers who start an instance, and wait for its answer; and starts above the limits.</summary>
[CancelAfter(60_000)]
public sealed class WorkflowCallerTests
{
    private WorkflowBench _bench = null!;

    [TearDown]
    public async Task Stop() => await _bench.DisposeAsync();

    [Test]
    public async Task Answer_reaches_the_caller_once_and_the_instance_goes_on(CancellationToken cancellationToken)
    {
        await StartAsync(
            """
            { "quote": { "steps": [
                { "set": { "body": { "template": "first" } } },
                { "respond": { "status": 203, "template": "answer", "headers": { "x-by": "quote" } } },
                { "delay": "1s" }, { "respond": {} }, { "publish": "out.done" } ] } }
            """,
            cancellationToken
        );
        var message = WorkflowBench.Message("", "{}");
        using var reply = await _bench.Replies.AwaitAsync(message, TimeSpan.FromSeconds(30), cancellationToken);

        var start = await _bench.Engine.StartAsync("quote", message, reply.Address, cancellationToken);
        var answer = await reply.WaitAsync(cancellationToken);

        await _bench.WaitForAsync(WorkflowState.Completed, cancellationToken);
        await Eventually.BecomesAsync(() => _bench.Subjects.Contains("out.done"), cancellationToken);
        using (Assert.EnterMultipleScope())
        {
            Assert.That(start, Is.EqualTo(WorkflowStart.Started));
            Assert.That(answer.Body.ReadText(), Is.EqualTo("answer"));
            Assert.That((answer.Headers[EsbHeaders.Status], answer.Headers["x-by"]), Is.EqualTo(("203", "quote")));
            Assert.That(_bench.Audit.Kinds.Count(kind => kind is AuditKind.Replied or AuditKind.ReplyAbandoned), Is.EqualTo(1));
        }
    }

    [
        TestCase("""[{ "set": { "body": { "template": "the end" } } }]""", null, "the end"),
        TestCase("""[{ "filter": { "header": "x-none", "exists": true } }]""", null, ""),
        TestCase("""[{ "terminate": "not today" }]""", "ESB-WFL-TERMINATED", "The workflow ended without an answer: not today."),
        TestCase(
            """[{ "scope": { "steps": [{ "fail": { "code": "SHOP-1", "reason": "sold out" } }], "catch": [{ "steps": [{ "terminate": "sold out" }] }] } }]""",
            "ESB-WFL-TERMINATED",
            "The workflow ended without an answer: sold out."
        )
    ]
    public async Task End_of_the_instance_is_the_answer_where_no_step_gave_one(
        string steps,
        string? code,
        string text,
        CancellationToken cancellationToken
    )
    {
        await StartAsync($$"""{ "quote": { "steps": {{steps}} } }""", cancellationToken);
        var message = WorkflowBench.Message("", "{}");
        using var reply = await _bench.Replies.AwaitAsync(message, TimeSpan.FromSeconds(30), cancellationToken);

        await _bench.Engine.StartAsync("quote", message, reply.Address, cancellationToken);
        var answer = await reply.WaitAsync(cancellationToken);

        var failure = FaultReply.Read(answer);
        Assert.That((failure?.Code, failure?.Message ?? answer.Body.ReadText()), Is.EqualTo((code, text)));
    }

    [Test]
    public async Task Request_under_a_topic_is_answered(CancellationToken cancellationToken)
    {
        await StartAsync("""{ "quote": { "start": "orders.quote", "steps": [{ "respond": { "template": "7" } }] } }""", cancellationToken);
        var message = WorkflowBench.Message("orders.quote", "{}");
        using var reply = await _bench.Replies.AwaitAsync(message, TimeSpan.FromSeconds(30), cancellationToken);
        var delivery = new TopicDelivery(message, default, Reply: null) { ReplyAddress = () => reply.Address };

        await _bench.Engine.ReceiveAsync("quote", delivery, cancellationToken);

        Assert.That((await reply.WaitAsync(cancellationToken)).Body.ReadText(), Is.EqualTo("7"));
    }

    [Test]
    public async Task Message_starts_once_and_one_beside_a_living_instance_is_refused(CancellationToken cancellationToken)
    {
        await StartAsync(Waiting("fail"), cancellationToken);
        var message = WorkflowBench.Message("", """{ "order": 1 }""");

        var first = await _bench.Engine.StartAsync("wait", message, replyAddress: null, cancellationToken);
        var second = await _bench.Engine.StartAsync("wait", message, replyAddress: null, cancellationToken);

        Assert.That((first, second), Is.EqualTo((WorkflowStart.Started, WorkflowStart.Known)));
        Assert.That(
            async () => await _bench.Engine.StartAsync("wait", WorkflowBench.Message("", """{ "order": 1 }"""), null, cancellationToken),
            Throws.InstanceOf<EsbException>().With.Property("Code").EqualTo("ESB-WFL-RUNNING").And.Property("Status").EqualTo(409)
        );
    }

    [Test]
    public async Task Start_is_ignored_beside_a_living_instance_where_the_workflow_says_so(CancellationToken cancellationToken)
    {
        await StartAsync(Waiting("ignore"), cancellationToken);
        var starts = new List<WorkflowStart>();
        for (var i = 0; i < 2; i++)
            starts.Add(await _bench.Engine.StartAsync("wait", WorkflowBench.Message("", """{ "order": 1 }"""), null, cancellationToken));

        Assert.That(starts, Is.EqualTo(new[] { WorkflowStart.Started, WorkflowStart.Ignored }));
    }

    [TestCase("fail", "ESB-WFL-RUNNING"), TestCase("ignore", null)]
    public async Task Request_that_starts_nothing_is_answered_and_is_no_dead_letter(
        string whenRunning,
        string? code,
        CancellationToken cancellationToken
    )
    {
        await StartAsync(Waiting(whenRunning).Replace("\"correlate\"", "\"start\": \"orders.new\", \"correlate\""), cancellationToken);
        await _bench.SendAsync("wait", WorkflowBench.Message("orders.new", """{ "order": 1 }"""), cancellationToken);
        var asking = WorkflowBench.Message("orders.new", """{ "order": 1 }""");
        using var reply = await _bench.Replies.AwaitAsync(asking, TimeSpan.FromSeconds(30), cancellationToken);

        var settled = await _bench.Engine.ReceiveAsync(
            "wait",
            new TopicDelivery(asking, default, Reply: null) { ReplyAddress = () => reply.Address },
            cancellationToken
        );
        var answer = await reply.WaitAsync(cancellationToken);

        Assert.That(settled, Is.EqualTo(Settlement.Done));
        Assert.That((FaultReply.Read(answer)?.Code, answer.Headers[EsbHeaders.Status]), Is.EqualTo((code, code is null ? "204" : null)));
    }

    [Test]
    public async Task Starts_wait_while_the_memory_of_the_host_is_above_its_mark(CancellationToken cancellationToken)
    {
        await StartAsync(Limited(100), cancellationToken);
        _bench.Marks.IsCrossed(MarkNames.Memory).Returns(true);
        await _bench.SendAsync("wait", WorkflowBench.Message("orders.new", """{ "order": 1 }"""), cancellationToken);
        await _bench.Engine.StartHeldAsync(cancellationToken);
        var held = await KeysAsync(cancellationToken);

        _bench.Marks.IsCrossed(MarkNames.Memory).Returns(false);
        await _bench.Engine.StartHeldAsync(cancellationToken);

        Assert.That((held.Count, (await KeysAsync(cancellationToken)).Single()), Is.EqualTo((0, "order=1")));
    }

    [Test]
    public async Task Caller_of_a_life_before_has_gone_and_the_instance_ends_all_the_same(CancellationToken cancellationToken)
    {
        await StartAsync("""{ "quote": { "steps": [{ "delay": "1s" }, { "publish": "out.done" }] } }""", cancellationToken);
        var message = WorkflowBench.Message("", "{}");
        using var reply = await _bench.Replies.AwaitAsync(message, TimeSpan.FromSeconds(30), cancellationToken);
        await _bench.Engine.StartAsync("quote", message, reply.Address, cancellationToken);

        await _bench.KillAsync();
        await _bench.StartAsync(cancellationToken);

        await _bench.WaitForAsync(WorkflowState.Completed, cancellationToken);
        await Eventually.BecomesAsync(() => _bench.Audit.Kinds.Contains(AuditKind.ReplyAbandoned), cancellationToken);
    }

    [Test]
    public async Task Answer_is_not_lost_whatever_commit_the_process_ends_at(
        [Values(1, 2)] int commit,
        [Values] bool after,
        CancellationToken cancellationToken
    )
    {
        var callers = new RememberedReplies();
        _bench = new WorkflowBench(
            """
            { "quote": { "steps": [
                { "delay": "1s" }, { "respond": { "status": 203, "template": "answer", "headers": { "x-by": "quote" } } }, { "publish": "out.done" } ] } }
            """
        )
        {
            Callers = callers,
        };
        await _bench.StartAsync(cancellationToken);
        (_bench.Gate.DiesAt, _bench.Gate.DiesAfter) = (commit, after);
        var message = WorkflowBench.Message("orders.quote", "{}") with { CorrelationId = "c-1", Party = "acme" };

        if (commit == 1)
            Assert.That(async () => await AskAsync(), Throws.InstanceOf<EsbException>());
        else
            await AskAsync();
        await Eventually.BecomesAsync(() => _bench.Gate.IsDead, cancellationToken);
        var before = callers.Sent.Count;
        await _bench.KillAsync();
        await _bench.StartAsync(cancellationToken);
        if (commit == 1 && !after)
            await AskAsync(); // nothing was stored, and the caller asks again
        await _bench.WaitForAsync(WorkflowState.Completed, cancellationToken);
        await Eventually.BecomesAsync(() => _bench.Audit.Kinds.Contains(AuditKind.Replied), cancellationToken);

        var (address, reply) = callers.Sent.Single();
        var fact = _bench.Audit.Facts.Single(fact => fact.Kind == AuditKind.Replied);
        using (Assert.EnterMultipleScope())
        {
            Assert.That(before, Is.Zero, "the process ended before it could answer");
            Assert.That((address, reply.Body.ReadText()), Is.EqualTo(("caller", "answer")));
            Assert.That((reply.Headers[EsbHeaders.Status], reply.Headers["x-by"]), Is.EqualTo(("203", "quote")));
            Assert.That((reply.CorrelationId, reply.Party, reply.Subject), Is.EqualTo((message.Id.ToString(), (string?)null, "")));
            Assert.That((fact.MessageId, fact.Subject, fact.Party), Is.EqualTo((message.Id, "orders.quote", "acme")));
            Assert.That(fact.Fields["workflow.instance"], Is.EqualTo($"{(await _bench.InstancesAsync(cancellationToken)).Single().Id}"));
        }

        Task<WorkflowStart> AskAsync() => _bench.Engine.StartAsync("quote", message, "caller", cancellationToken);
    }

    [Test]
    public async Task Request_that_is_ignored_is_answered_although_the_process_ends(CancellationToken cancellationToken)
    {
        var callers = new RememberedReplies();
        _bench = new WorkflowBench(Waiting("ignore").Replace("\"correlate\"", "\"start\": \"orders.new\", \"correlate\""))
        {
            Callers = callers,
        };
        await _bench.StartAsync(cancellationToken);
        await _bench.SendAsync("wait", WorkflowBench.Message("orders.new", """{ "order": 1 }"""), cancellationToken);
        (_bench.Gate.DiesAt, _bench.Gate.DiesAfter) = (_bench.Gate.Commits + 1, true);
        var asking = new TopicDelivery(WorkflowBench.Message("orders.new", """{ "order": 1 }"""), default, Reply: null)
        {
            ReplyAddress = () => "caller",
        };

        Assert.That(async () => await _bench.Engine.ReceiveAsync("wait", asking, cancellationToken), Throws.InstanceOf<EsbException>());
        await _bench.KillAsync();
        await _bench.StartAsync(cancellationToken);
        await _bench.Engine.ReceiveAsync("wait", asking, cancellationToken); // the queue delivers it again

        await Eventually.BecomesAsync(() => _bench.Audit.Kinds.Contains(AuditKind.Replied), cancellationToken);
        Assert.That(callers.Sent.Single().Reply.Headers[EsbHeaders.Status], Is.EqualTo("204"));
    }

    [Test]
    public async Task Starts_above_the_limit_wait_in_the_store_and_begin_when_others_end(CancellationToken cancellationToken)
    {
        await StartAsync(Limited(2), cancellationToken);
        for (var i = 1; i <= 5; i++)
            await _bench.SendAsync("wait", WorkflowBench.Message("orders.new", $$"""{ "order": {{i}} }"""), cancellationToken);
        var living = await KeysAsync(cancellationToken);
        await _bench.KillAsync();
        await _bench.StartAsync(cancellationToken); // what waits is in the store

        var most = 0;
        for (var i = 1; i <= 5; i++)
        {
            await Eventually.BecomesAsync(
                async () =>
                {
                    await _bench.Engine.StartHeldAsync(cancellationToken);
                    return (await KeysAsync(cancellationToken)).Contains($"order={i}");
                },
                cancellationToken
            );
            most = Math.Max(most, (await KeysAsync(cancellationToken)).Count);
            await _bench.SendAsync("wait", WorkflowBench.Message("orders.go", $$"""{ "order": {{i}} }"""), cancellationToken);
        }

        await _bench.WaitForAsync(WorkflowState.Completed, cancellationToken, count: 5);
        Assert.That((living.Count, most), Is.EqualTo((2, 2)));
    }

    [Test]
    public async Task Callers_above_the_limit_are_told_to_come_later(CancellationToken cancellationToken)
    {
        await StartAsync(Limited(1), cancellationToken);
        await _bench.Engine.StartAsync("wait", WorkflowBench.Message("", """{ "order": 1 }"""), null, cancellationToken);
        var asking = WorkflowBench.Message("orders.new", """{ "order": 3 }""");
        using var reply = await _bench.Replies.AwaitAsync(asking, TimeSpan.FromSeconds(30), cancellationToken);
        await _bench.Engine.ReceiveAsync(
            "wait",
            new TopicDelivery(asking, default, Reply: null) { ReplyAddress = () => reply.Address },
            cancellationToken
        );

        Assert.That(FaultReply.Read(await reply.WaitAsync(cancellationToken))?.Code, Is.EqualTo("ESB-WFL-LIMIT"));
        Assert.That(
            async () => await _bench.Engine.StartAsync("wait", WorkflowBench.Message("", """{ "order": 2 }"""), null, cancellationToken),
            Throws.InstanceOf<EsbException>().With.Property("Code").EqualTo("ESB-WFL-LIMIT").And.Property("RetryAfter").Not.Null
        );
    }

    private static string Waiting(string whenRunning) =>
        $$"""
            { "wait": {
                "correlate": { "order": { "jsonpath": "$.order" } }, "whenRunning": "{{whenRunning}}",
                "steps": [{ "receive": { "subscribe": "orders.go", "match": { "order": { "jsonpath": "$.order" } } } }] } }
            """;

    private static string Limited(int most) =>
        Waiting("fail").Replace("\"correlate\"", $"\"maximumInstances\": {most}, \"start\": \"orders.new\", \"correlate\"");

    private async Task<List<string>> KeysAsync(CancellationToken cancellationToken) =>
        [.. (await _bench.InstancesAsync(cancellationToken)).Where(one => !one.IsEnded).Select(one => one.Keys)];

    private Task StartAsync(string workflows, CancellationToken cancellationToken)
    {
        _bench = new WorkflowBench(workflows);
        return _bench.StartAsync(cancellationToken);
    }
}
