using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Core.Workflows;
using Esb.Storage;

namespace Esb.IntegrationTests.Storage;

/// <summary>What every store of workflows, timers and outgoing messages promises.</summary>
public abstract partial class WorkflowStoreContract
{
    private Store _store = null!;

    private protected abstract Task<Store> OpenAsync();

    protected abstract Task CloseAsync();

    [SetUp]
    public async Task Open() => _store = await OpenAsync();

    [TearDown]
    public Task Close() => CloseAsync();

    [Test, CancelAfter(60_000)]
    public async Task Of_two_changes_of_a_version_one_wins_and_the_loser_stores_nothing(CancellationToken cancellationToken)
    {
        var begun = Begin("1");
        await CommitAsync(begun, cancellationToken);
        var first = Change(begun) with { Outgoing = [Outgoing(begun, "out.first")] };
        var second = Change(begun) with { Outgoing = [Outgoing(begun, "out.second")], Inbox = Guid.CreateVersion7() };

        var outcomes = (await Task.WhenAll(CommitAsync(first, cancellationToken), CommitAsync(second, cancellationToken)))
            .Select(result => result.Outcome)
            .ToList();

        Assert.That(outcomes, Is.EquivalentTo(new[] { CommitOutcome.Committed, CommitOutcome.Stale }));
        Assert.That((await _store.Workflows.FindAsync(begun.Instance!.Id, cancellationToken))!.Version, Is.EqualTo(2));
        Assert.That(await _store.Workflows.HistoryAsync(begun.Instance.Id, 0, 10, cancellationToken), Has.Count.EqualTo(2));
        Assert.That(
            (await _store.Workflows.FindTakersAsync("w", second.Inbox!.Value, [], [], cancellationToken)).IsKnown,
            Is.EqualTo(outcomes[1] == CommitOutcome.Committed)
        );
    }

    [Test, CancelAfter(60_000)]
    public async Task Loser_of_a_group_does_not_take_the_others_with_it(CancellationToken cancellationToken)
    {
        var message = Guid.CreateVersion7();
        await CommitAsync(Begin("1") with { Inbox = message }, cancellationToken);
        var (good, twin) = (Begin("2") with { Inbox = Guid.CreateVersion7() }, Begin("3") with { Inbox = message });

        var results = await _store.Workflows.CommitAsync([twin, good], cancellationToken);

        Assert.That(results.Select(result => result.Outcome), Is.EqualTo(new[] { CommitOutcome.Duplicate, CommitOutcome.Committed }));
        Assert.That(await _store.Workflows.FindAsync(good.Instance!.Id, cancellationToken), Is.Not.Null);
        Assert.That(await _store.Workflows.FindAsync(twin.Instance!.Id, cancellationToken), Is.Null);
    }

    [Test, CancelAfter(60_000)]
    public async Task Message_of_two_workflows_has_its_effect_in_both_when_their_checkpoints_share_a_commit(
        CancellationToken cancellationToken
    )
    {
        var message = Guid.CreateVersion7();
        var (one, other) = (Begin("1") with { Inbox = message }, Begin("2") with { Workflow = "v", Inbox = message });
        other = other with { Instance = other.Instance! with { Workflow = "v" } };

        var results = await _store.Workflows.CommitAsync([one, other], cancellationToken);
        var again = await _store.Workflows.CommitAsync(
            [Begin("3") with { Inbox = message }, Begin("4") with { Workflow = "v", Inbox = message }],
            cancellationToken
        );

        Assert.That(results.Select(result => result.Outcome), Is.All.EqualTo(CommitOutcome.Committed));
        Assert.That(again.Select(result => result.Outcome), Is.All.EqualTo(CommitOutcome.Duplicate));
        Assert.That(await _store.Workflows.ListAsync(new WorkflowQuery(), cancellationToken), Has.Count.EqualTo(2));
    }

    [Test, CancelAfter(60_000)]
    public async Task Exclusive_key_belongs_to_one_living_instance(CancellationToken cancellationToken)
    {
        var first = Begin("1") with { Keys = [new WorkflowKey("k", IsExclusive: true)] };
        var second = Begin("2") with { Keys = [new WorkflowKey("k", IsExclusive: true)] };
        var results = await _store.Workflows.CommitAsync([first, second], cancellationToken);

        await CommitAsync(Change(first, WorkflowState.Completed), cancellationToken);
        var third = await CommitAsync(Begin("3") with { Keys = [new WorkflowKey("k", IsExclusive: true)] }, cancellationToken);

        Assert.That(results.Select(result => result.Outcome), Is.EqualTo(new[] { CommitOutcome.Committed, CommitOutcome.Occupied }));
        Assert.That(third.Outcome, Is.EqualTo(CommitOutcome.Committed));
    }

    [Test, CancelAfter(60_000)]
    public async Task Wait_finds_the_early_message_and_the_message_finds_the_wait(CancellationToken cancellationToken)
    {
        var message = Message("stock.picked");
        var early = await CommitAsync(
            new WorkflowCommit
            {
                Workflow = "w",
                Inbox = message.Id,
                Early = new EarlyMessage(message, [("wait", "key")], MayStart: false),
            },
            cancellationToken
        );
        var begun = Begin("1") with { Waits = [new WorkflowWait(7, "wait")] };
        var result = await CommitAsync(begun, cancellationToken);
        var later = Message("stock.picked");
        var awaited = await CommitAsync(
            new WorkflowCommit
            {
                Workflow = "w",
                Inbox = later.Id,
                Early = new EarlyMessage(later, [("wait", "key")], MayStart: false),
            },
            cancellationToken
        );

        Assert.That(early.IsAwaited, Is.False);
        Assert.That(result.Early, Is.EqualTo(new[] { (7, message.Id) }));
        Assert.That(awaited.IsAwaited, Is.True);
        Assert.That(
            (await _store.Workflows.FindEarlyAsync("w", message.Id, cancellationToken))!.Message.Body.ReadText(),
            Is.EqualTo("{\"a\":\"ä\"}")
        );
        Assert.That(
            (await _store.Workflows.FindMatchedAsync(10, cancellationToken)).Select(found => found.Message),
            Is.EquivalentTo(new[] { message.Id, later.Id })
        );

        var taken = Change(begun) with { Taken = message.Id, EndedWaits = [7] };
        Assert.That((await CommitAsync(taken, cancellationToken)).Outcome, Is.EqualTo(CommitOutcome.Committed));
        Assert.That(
            (await CommitAsync(Change(taken) with { Taken = message.Id }, cancellationToken)).Outcome,
            Is.EqualTo(CommitOutcome.Gone)
        );
    }

    [Test, CancelAfter(60_000), Property("Case", "WFL-03")]
    public async Task Early_message_of_an_instance_that_ends_is_late(CancellationToken cancellationToken)
    {
        var begun = Begin("1") with { Keys = [new WorkflowKey("key", IsExclusive: false)] };
        await CommitAsync(begun, cancellationToken);
        var (late, starting) = (Message("stock.picked"), Message("orders.new"));
        await CommitAsync(
            new WorkflowCommit { Workflow = "w", Early = new EarlyMessage(late, [("wait", "key")], MayStart: false) },
            cancellationToken
        );
        await CommitAsync(
            new WorkflowCommit { Workflow = "w", Early = new EarlyMessage(starting, [("wait", "key")], MayStart: true) },
            cancellationToken
        );

        var result = await CommitAsync(Change(begun, WorkflowState.Completed), cancellationToken);

        Assert.That(result.Late.Select(message => message.Id), Is.EqualTo(new[] { late.Id }));
        Assert.That(result.Starting, Is.EqualTo(new[] { starting.Id }));
        Assert.That(await _store.Workflows.FindEarlyAsync("w", late.Id, cancellationToken), Is.Null);
    }

    [Test, CancelAfter(60_000)]
    public async Task Instances_are_found_by_state_step_key_and_page(CancellationToken cancellationToken)
    {
        for (var i = 0; i < 5; i++)
            await CommitAsync(
                Begin($"{i}", milliseconds: i) with
                {
                    Keys = [new WorkflowKey($"key-{i}", IsExclusive: false)],
                },
                cancellationToken
            );

        var page = await _store.Workflows.ListAsync(
            new WorkflowQuery
            {
                Workflow = "w",
                States = [WorkflowState.Waiting],
                Step = "there",
                Limit = 3,
            },
            cancellationToken
        );
        var rest = await _store.Workflows.ListAsync(new WorkflowQuery { After = page[^1].Id, Limit = 3 }, cancellationToken);
        var keyed = await _store.Workflows.ListAsync(new WorkflowQuery { Keys = ["key-3"] }, cancellationToken);

        Assert.That(page.Concat(rest).Select(instance => instance.Keys), Is.EqualTo(new[] { "n=4", "n=3", "n=2", "n=1", "n=0" }));
        Assert.That(keyed.Select(instance => instance.Keys), Is.EqualTo(new[] { "n=3" }));
        Assert.That((await _store.Workflows.CountAsync(cancellationToken)).Single().Count, Is.EqualTo(5));
    }

    [TestCase(null, "", "f e d c b a")]
    [TestCase("v", "", "f d b")]
    [TestCase(null, "Completed", "f c")]
    [TestCase("v", "Completed", "f")]
    [TestCase("w", "Terminated", "")]
    [TestCase(null, "Waiting,Terminated", "e d b a")]
    [TestCase("none", "Waiting", "")]
    [CancelAfter(60_000)]
    public async Task Instances_are_found_among_those_of_all_workflows_and_states(
        string? workflow,
        string states,
        string expected,
        CancellationToken cancellationToken
    )
    {
        (string Name, string Workflow, WorkflowState State)[] all =
        [
            ("a", "w", WorkflowState.Waiting),
            ("b", "v", WorkflowState.Terminated),
            ("c", "w", WorkflowState.Completed),
            ("d", "v", WorkflowState.Waiting),
            ("e", "w", WorkflowState.Waiting),
            ("f", "v", WorkflowState.Completed),
        ];
        foreach (var (one, number) in all.Select((one, number) => (one, number)))
        {
            var begun = Begin(one.Name, milliseconds: number);
            begun = begun with { Instance = begun.Instance! with { Workflow = one.Workflow } };
            await CommitAsync(begun, cancellationToken);
            if (one.State == WorkflowState.Waiting)
                continue;
            var ended = Change(begun, one.State);
            await CommitAsync(
                ended with
                {
                    Instance = ended.Instance! with { Step = "", Code = one.State == WorkflowState.Terminated ? "LATE" : null },
                },
                cancellationToken
            );
        }

        var query = new WorkflowQuery
        {
            Workflow = workflow,
            States = [.. states.Split(',', StringSplitOptions.RemoveEmptyEntries).Select(Enum.Parse<WorkflowState>)],
            Limit = 10,
        };
        var found = await FindAsync(query);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(found, Is.EqualTo(expected.Split(' ', StringSplitOptions.RemoveEmptyEntries)));
            Assert.That(
                await FindAsync(query with { Before = TimeProvider.System.GetUtcNow().AddHours(1) }),
                Is.EqualTo(found),
                "all have started by now"
            );
            Assert.That(await FindAsync(query with { Before = TimeProvider.System.GetUtcNow().AddHours(-1) }), Is.Empty);
            Assert.That(await FindAsync(query with { Limit = 1 }), Is.EqualTo(found.Take(1)));
            Assert.That(await FindAsync(query with { Step = "there" }), Is.EqualTo(found.Intersect(["e", "d", "a"])));
            Assert.That(await FindAsync(query with { Code = "LATE" }), Is.EqualTo(found.Intersect(["b"])));
        }

        async Task<IReadOnlyList<string>> FindAsync(WorkflowQuery some) =>
            [.. (await _store.Workflows.ListAsync(some, cancellationToken)).Select(instance => instance.Keys.Split('=')[1])];
    }

    [Test, CancelAfter(60_000)]
    public async Task Claim_of_a_clock_that_was_ahead_counts_as_over(CancellationToken cancellationToken)
    {
        var timer = new StoredTimer(Guid.CreateVersion7(), "test.a", "x") { Delay = TimeSpan.FromMilliseconds(-5) };
        var begun = Begin("1");
        await _store.Timers.SetAsync([timer], cancellationToken);
        await CommitAsync(begun with { Outgoing = [Outgoing(begun, "out.first")] }, cancellationToken);
        await _store.Outbox.ReleaseAsync(cancellationToken);
        var ahead = TimeSpan.FromDays(1); // as if made before the clock was set back
        await _store.Timers.ClaimAsync(["test.a"], 10, ahead, cancellationToken);
        await _store.Outbox.ClaimAsync(10, ahead, cancellationToken);

        var timers = await _store.Timers.ClaimAsync(["test.a"], 10, TimeSpan.FromMinutes(1), cancellationToken);
        var messages = await _store.Outbox.ClaimAsync(10, TimeSpan.FromMinutes(1), cancellationToken);
        var again = await _store.Timers.ClaimAsync(["test.a"], 10, TimeSpan.FromMinutes(1), cancellationToken);

        Assert.That((timers.Timers.Count, messages.Count, again.Timers.Count), Is.EqualTo((1, 1, 0)));
        Assert.That(timers.Timers[0].Late, Is.GreaterThan(TimeSpan.Zero));
    }

    [Test, CancelAfter(60_000)]
    public async Task Due_timers_are_claimed_in_the_order_of_their_times(CancellationToken cancellationToken)
    {
        int[] due = [3, 1, 5, 2, 4];
        await _store.Timers.SetAsync(
            [
                .. due.Select(minutes => new StoredTimer(Guid.CreateVersion7(), "test.a", $"{minutes}")
                {
                    Delay = TimeSpan.FromMinutes(-minutes),
                }),
            ],
            cancellationToken
        );

        var claimed = await _store.Timers.ClaimAsync(["test.a"], 10, TimeSpan.FromMinutes(1), cancellationToken);

        Assert.That(claimed.Timers.Select(timer => timer.Target), Is.EqualTo(new[] { "5", "4", "3", "2", "1" }));
    }

    [Test, CancelAfter(60_000)]
    public async Task Timer_is_claimed_once_when_it_is_due_and_leaves_with_its_effect(CancellationToken cancellationToken)
    {
        var (now, later) = (
            new StoredTimer(Guid.CreateVersion7(), "test.a", "x") { Delay = TimeSpan.FromMilliseconds(-5), Data = "d" },
            new StoredTimer(Guid.CreateVersion7(), "test.a", "y") { Delay = TimeSpan.FromHours(1) }
        );
        await _store.Timers.SetAsync([now, later], cancellationToken);

        var claimed = await _store.Timers.ClaimAsync(["test.a"], 10, TimeSpan.FromMinutes(1), cancellationToken);
        var again = await _store.Timers.ClaimAsync(["test.a"], 10, TimeSpan.FromMinutes(1), cancellationToken);
        await _store.Timers.ReleaseAsync("test.b", cancellationToken);
        var released = await _store.Timers.ClaimAsync(["test.a"], 10, TimeSpan.FromMinutes(1), cancellationToken);
        var effect = await CommitAsync(new WorkflowCommit { Workflow = "w", Fired = now.Id }, cancellationToken);
        var twice = await CommitAsync(new WorkflowCommit { Workflow = "w", Fired = now.Id }, cancellationToken);

        Assert.That(claimed.Timers.Select(timer => (timer.Id, timer.Data)), Is.EqualTo(new[] { (now.Id, "d") }));
        Assert.That(again.Timers, Is.Empty);
        Assert.That(again.Next, Is.GreaterThan(TimeSpan.FromMinutes(50)));
        Assert.That(released.Timers, Has.Count.EqualTo(1));
        Assert.That((effect.Outcome, twice.Outcome), Is.EqualTo((CommitOutcome.Committed, CommitOutcome.Gone)));
    }

    [Test, CancelAfter(60_000)]
    public async Task Outgoing_messages_of_an_owner_are_claimed_together_and_in_order(CancellationToken cancellationToken)
    {
        var begun = Begin("1");
        begun = begun with { Outgoing = [.. Enumerable.Range(0, 5).Select(number => Outgoing(begun, $"out.n{number}"))] };
        await CommitAsync(begun, cancellationToken);
        var second = await CommitAsync(Change(begun) with { Outgoing = [Outgoing(begun, "out.n5")] }, cancellationToken);
        var held = await _store.Outbox.ClaimAsync(10, TimeSpan.FromMinutes(1), cancellationToken);
        await _store.Outbox.ReleaseAsync(cancellationToken);

        var claimed = await _store.Outbox.ClaimAsync(10, TimeSpan.FromMinutes(1), cancellationToken);
        await _store.Outbox.RemoveAsync([.. claimed.Select(message => message.Id)], cancellationToken);
        await _store.Outbox.ReleaseAsync(cancellationToken);

        Assert.That(second.FollowsUnpublished, Is.True);
        Assert.That(held, Is.Empty, "their host publishes them");
        Assert.That(
            claimed.Select(message => message.Message.Message.Subject),
            Is.EqualTo(Enumerable.Range(0, 6).Select(number => $"out.n{number}"))
        );
        Assert.That(claimed[0].Message.Step, Is.EqualTo("step"));
        Assert.That(await _store.Outbox.ClaimAsync(10, TimeSpan.FromMinutes(1), cancellationToken), Is.Empty);
    }

    [Test, CancelAfter(60_000)]
    public async Task Answer_is_stored_with_its_address(CancellationToken cancellationToken)
    {
        var begun = Begin("1");
        var plain = Outgoing(begun, "out.plain");
        var until = new DateTimeOffset(2026, 11, 27, 5, 0, 0, 250, TimeSpan.Zero);
        var answer = new OutboxMessage(
            "answer",
            plain.Message with
            {
                ReplyTo = new AnswerAddress("1795755600000\nqueue\nid", "orders.ask"),
                ReplyUntil = until,
            }
        );
        await CommitAsync(begun with { Outgoing = [plain, answer] }, cancellationToken);
        await _store.Outbox.ReleaseAsync(cancellationToken);

        var claimed = await _store.Outbox.ClaimAsync(10, TimeSpan.FromMinutes(1), cancellationToken);

        Assert.That(
            claimed.ToDictionary(message => message.Owner, message => (message.Message.ReplyTo, message.Message.ReplyUntil)),
            Is.EquivalentTo(
                new Dictionary<string, (AnswerAddress?, DateTimeOffset?)>
                {
                    [plain.Owner] = (null, null),
                    ["answer"] = (answer.Message.ReplyTo, until),
                }
            )
        );
    }

    [Test, CancelAfter(60_000)]
    public async Task Living_instances_are_counted_by_state_whoever_changes_them(CancellationToken cancellationToken)
    {
        var begun = Enumerable.Range(0, 300).Select(number => Begin($"{number}")).ToList();
        await Task.WhenAll(begun.Select(commit => CommitAsync(commit, cancellationToken)));
        var stopped = Change(begun[0], WorkflowState.Suspended);
        await CommitAsync(stopped, cancellationToken);
        var stale = await CommitAsync(Change(begun[0], WorkflowState.Completed), cancellationToken);
        await _store.Workflows.CommitAsync(
            [Change(begun[1], WorkflowState.Completed), Change(begun[2], WorkflowState.Terminated), Change(begun[3])],
            cancellationToken
        );
        var before = await LivingAsync(cancellationToken);

        await Task.WhenAll(Enumerable.Range(0, 4).Select(_ => _store.Workflows.SumUpAsync(recount: false, cancellationToken)));
        var summed = await LivingAsync(cancellationToken);
        await CommitAsync(Change(begun[4]) with { Before = WorkflowState.Running }, cancellationToken); // a wrong sum
        var wrong = await LivingAsync(cancellationToken);
        await Task.WhenAll(Enumerable.Range(0, 4).Select(_ => _store.Workflows.SumUpAsync(recount: true, cancellationToken)));

        var expected = new[] { ("w", WorkflowState.Suspended, 1L), ("w", WorkflowState.Waiting, 297L) };
        using (Assert.EnterMultipleScope())
        {
            Assert.That(stale.Outcome, Is.EqualTo(CommitOutcome.Stale), "and changes no count");
            Assert.That(before, Is.EquivalentTo(expected));
            Assert.That(summed, Is.EquivalentTo(expected));
            Assert.That(wrong, Is.Not.EquivalentTo(expected));
            Assert.That(await LivingAsync(cancellationToken), Is.EquivalentTo(expected));
            Assert.That((await _store.Workflows.CountByDefinitionAsync(cancellationToken))["hash"], Is.EqualTo(298));
        }
    }

    private async Task<IEnumerable<(string, WorkflowState, long)>> LivingAsync(CancellationToken cancellationToken) =>
        (await _store.Workflows.LivingAsync(cancellationToken)).Select(count => (count.Workflow, count.State, count.Count));

    private async Task<CommitResult> CommitAsync(WorkflowCommit commit, CancellationToken cancellationToken) =>
        (await _store.Workflows.CommitAsync([commit], cancellationToken)).Single();

    // Ids of one millisecond have no order.
    private protected static WorkflowCommit Begin(string number, int milliseconds = 0)
    {
        var id = Guid.CreateVersion7(TimeProvider.System.GetUtcNow().AddMilliseconds(milliseconds));
        return new WorkflowCommit
        {
            Workflow = "w",
            Instance = new WorkflowInstance
            {
                Id = id,
                Workflow = "w",
                Definition = "hash",
                Version = 1,
                State = WorkflowState.Waiting,
                Step = "here, there",
                Snapshot = "{}"u8.ToArray(),
                Keys = $"n={number}",
                StartedBy = id,
                ConversationId = id,
            },
        };
    }

    private protected static WorkflowCommit Change(WorkflowCommit commit, WorkflowState state = WorkflowState.Waiting) =>
        new()
        {
            Workflow = "w",
            Instance = commit.Instance! with { Version = commit.Instance.Version + 1, State = state },
            Before = commit.Instance.State,
            Steps = """[{"step":"a","kind":"set"}]""",
        };

    private static EsbMessage Message(string subject) =>
        EsbMessage.Create(MessageBody.FromText("{\"a\":\"ä\"}"), TimeProvider.System) with
        {
            Subject = subject,
            ContentType = "application/json",
        };

    private static OutboxMessage Outgoing(WorkflowCommit commit, string subject) =>
        new(
            commit.Instance!.Id.ToString(),
            new OutgoingMessage(Message(subject), "workflow:w", "workflow w", default) { Step = "step", CausedBy = commit.Instance.Id }
        );
}
