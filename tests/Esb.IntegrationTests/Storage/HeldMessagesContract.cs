using Esb.Core.Itineraries;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.IntegrationTests.Topics;
using Esb.Storage;

namespace Esb.IntegrationTests.Storage;

/// <summary>What every store of held messages promises.</summary>
[CancelAfter(60_000)]
public abstract class HeldMessagesContract
{
    private const string Queue = "process:p";
    private static readonly string Step = HeldMessage.StepOf("p", "step");

    private Store _store = null!;

    private IHeldMessages Held => _store.Held;

    private protected abstract Task<Store> OpenAsync();

    protected abstract Task CloseAsync();

    [SetUp]
    public async Task Open() => _store = await OpenAsync();

    [TearDown]
    public Task Close() => CloseAsync();

    [Test]
    public async Task Group_is_complete_with_the_last_message_and_released_once(CancellationToken cancellationToken)
    {
        var rule = new GroupRule(Expected: 3, IsLast: false, 100, 1_000_000, Idle: null, TimeSpan.FromHours(1));
        var (first, second, third) = (Message("k", "1"), Message("k", "2"), Message("k", "3"));
        var begun = await JoinAsync(first, rule, cancellationToken);
        await JoinAsync(second, rule, cancellationToken);
        var again = await JoinAsync(second, rule, cancellationToken);
        var complete = await JoinAsync(third, rule with { Expected = null }, cancellationToken);

        var messages = await Held.ReadGroupAsync(begun.Group, cancellationToken);
        var outgoing = new OutboxMessage("k", new(first.Message, "in", "p", default) { Step = "step" }) { Queue = Queue };
        var ended = await Held.EndGroupAsync(complete.Release!.Id, begun.Group, outgoing, cancellationToken);
        var twice = await Held.EndGroupAsync(complete.Release.Id, begun.Group, outgoing, cancellationToken);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(again.IsKnown);
            Assert.That(messages.Select(held => held.Message.Body.ReadText()), Is.EqualTo(new[] { "1", "2", "3" }));
            Assert.That(ended, Is.False, "nothing of the line waits in the outbox");
            Assert.That(twice, Is.Null);
            Assert.That(await Held.ReadGroupAsync(begun.Group, cancellationToken), Is.Empty);
            Assert.That((await SentAsync(cancellationToken)).Select(sent => sent.Queue), Is.EqualTo(new[] { Queue }));
        }
    }

    [Test]
    public async Task Messages_that_come_at_once_are_of_one_group_or_the_next_and_none_is_in_two(CancellationToken cancellationToken)
    {
        var rule = new GroupRule(Expected: 5, IsLast: false, 100, 1_000_000, Idle: TimeSpan.FromMinutes(1), Within: null);

        var changes = await Task.WhenAll(
            Enumerable.Range(0, 50).Select(n => JoinAsync(Message("k", $"{n}"), rule, cancellationToken))
        );

        var groups = changes.GroupBy(change => change.Group).ToList();
        Assert.That(groups.Select(group => group.Count()), Is.All.EqualTo(5));
        Assert.That(groups.Select(group => group.Count(change => change.Release is not null)), Is.All.EqualTo(1));
    }

    [Test]
    public async Task Messages_of_one_commit_go_into_the_groups_of_their_lines_in_their_order(CancellationToken cancellationToken)
    {
        var rule = new GroupRule(Expected: 3, IsLast: false, 100, 1_000_000, Idle: TimeSpan.FromHours(1), Within: null);
        var known = Message("a", "a1");
        var begun = await JoinAsync(known, rule, cancellationToken);
        var twice = Message("b", "b1");
        HeldMessage[] messages = [known, Message("a", "a2"), twice, .. "345678".Select(n => Message("a", $"a{n}")), twice, Message("b", "b2")];

        var changes = await Held.AddToGroupsAsync([.. messages.Select(held => new GroupedMessage(held, rule))], cancellationToken);

        var texts = messages.Select(held => held.Message.Body.ReadText()).ToList();
        var ended = changes.Where(change => change.Release is not null).ToList();
        using (Assert.EnterMultipleScope())
        {
            Assert.That(texts.Where((_, i) => changes[i].IsKnown), Is.EqualTo(new[] { "a1", "b1" }), "once before, once in the commit");
            Assert.That(texts.Where((_, i) => changes[i].Release is not null), Is.EqualTo(new[] { "a3", "a6" }));
            Assert.That(ended[0].Group, Is.EqualTo(begun.Group));
            Assert.That(await TextsAsync(ended[0]), Is.EqualTo(new[] { "a1", "a2", "a3" }));
            Assert.That(await TextsAsync(ended[1]), Is.EqualTo(new[] { "a4", "a5", "a6" }));
            Assert.That(await TextsAsync(changes[8]), Is.EqualTo(new[] { "a7", "a8" }));
            Assert.That(await TextsAsync(changes[10]), Is.EqualTo(new[] { "b1", "b2" }));
        }

        await JoinAsync(Message("a", "a9"), rule, cancellationToken);
        Assert.That((await TextsAsync(changes[8])).Count, Is.EqualTo(3));

        async Task<IReadOnlyList<string>> TextsAsync(GroupChange change) =>
            [.. (await Held.ReadGroupAsync(change.Group, cancellationToken)).Select(held => held.Message.Body.ReadText())];
    }

    [Test]
    public async Task Commits_at_once_with_the_same_lines_lose_no_message_and_split_no_group(CancellationToken cancellationToken)
    {
        var rule = new GroupRule(Expected: 7, IsLast: false, 100, 1_000_000, Idle: null, TimeSpan.FromHours(1));
        var random = new Random(20);

        var commits = Enumerable.Range(0, 28).Select(n => "abcde".OrderBy(_ => random.Next()).Select(line => Message($"{line}", $"{n}")));
        var changes = await Task.WhenAll(
            commits
                .Select(held => held.Select(one => new GroupedMessage(one, rule)).ToList())
                .ToList()
                .Select(messages => Task.Run(() => Held.AddToGroupsAsync(messages, cancellationToken)))
        );

        var groups = changes.SelectMany(some => some).GroupBy(change => change.Group).ToList();
        Assert.That(groups, Has.Count.EqualTo(5 * 28 / 7));
        Assert.That(groups.Select(group => group.Count()), Is.All.EqualTo(7));
        Assert.That(groups.Select(group => group.Count(change => change.Release is not null)), Is.All.EqualTo(1));
    }

    [Test]
    public async Task Size_and_number_end_a_group_within_a_commit(CancellationToken cancellationToken)
    {
        var sized = new GroupRule(Expected: null, IsLast: false, MaxItems: 10, MaxSize: 4, Idle: null, TimeSpan.FromHours(1));
        var last = new GroupedMessage(Message("k", "e"), sized with { IsLast = true });
        GroupedMessage[] messages =
        [
            .. new[] { "ab", "cd", "ef" }.Select(text => new GroupedMessage(Message("k", text), sized)),
            new(Message("k", "g"), sized with { MaxItems = 2 }),
            last,
        ];

        var changes = await Held.AddToGroupsAsync(messages, cancellationToken);

        Assert.That(
            changes.Select(change => change.Release?.Data![(change.Release.Data!.IndexOf(' ') + 1)..]),
            Is.EqualTo(new[] { null, GroupReasons.Full, null, GroupReasons.Full, GroupReasons.Complete })
        );
        Assert.That(changes.Select(change => change.Group).Distinct().Count(), Is.EqualTo(3));
    }

    [Test]
    public async Task Group_whose_time_was_extended_is_not_closed(CancellationToken cancellationToken)
    {
        var rule = new GroupRule(Expected: null, IsLast: false, 100, 1_000_000, Idle: TimeSpan.FromMilliseconds(1), Within: null);
        await JoinAsync(Message("k", "1"), rule, cancellationToken);
        var timer = await ClaimAsync(HeldTimers.Group, cancellationToken);
        await JoinAsync(Message("k", "2"), rule with { Idle = TimeSpan.FromMinutes(1) }, cancellationToken);

        Assert.That(await Held.CloseGroupAsync(timer, GroupReasons.Time, cancellationToken), Is.Null);
        Assert.That((await Held.CountAsync(cancellationToken)).Single().Count, Is.EqualTo(2));
    }

    [Test]
    public async Task Sequence_continues_in_order_and_waits_for_a_gap(CancellationToken cancellationToken)
    {
        var early = await AddAsync(3, cancellationToken);
        var next = await AddAsync(1, cancellationToken);
        var gap = await AddAsync(2, cancellationToken);
        var late = await AddAsync(1, cancellationToken);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(TextsOf(early), Is.Empty);
            Assert.That(TextsOf(next), Is.EqualTo(new[] { "1" }));
            Assert.That(TextsOf(gap), Is.EqualTo(new[] { "2", "3" }));
            Assert.That(TextsOf(late), Is.EqualTo(new[] { "1" }), "a late message is not lost");
            Assert.That(
                (await SentAsync(cancellationToken)).Select(sent => sent.Message.Message.Body.ReadText()),
                Is.EqualTo(new[] { "1", "2", "3", "1" })
            );
        }
    }

    [Test]
    public async Task Gap_is_given_up_and_the_next_one_is_waited_for(CancellationToken cancellationToken)
    {
        await AddAsync(2, cancellationToken, TimeSpan.FromMilliseconds(1));
        await AddAsync(4, cancellationToken, TimeSpan.FromMilliseconds(1));
        var timer = await ClaimAsync(HeldTimers.Gap, cancellationToken);

        var passed = await Held.PassGapAsync(timer, TimeSpan.FromHours(1), Queue, cancellationToken);
        var twice = await Held.PassGapAsync(timer, TimeSpan.FromHours(1), Queue, cancellationToken);
        var closed = await AddAsync(3, cancellationToken);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(TextsOf(passed), Is.EqualTo(new[] { "2" }));
            Assert.That(TextsOf(twice), Is.Empty);
            Assert.That(TextsOf(closed), Is.EqualTo(new[] { "3", "4" }));
        }
    }

    [Test]
    public async Task Too_many_waiting_messages_are_refused_and_may_come_again(CancellationToken cancellationToken)
    {
        await AddAsync(2, cancellationToken, maxPending: 1);
        var message = Message("k", "3");
        var refused = await Held.AddToSequenceAsync(message, 3, 1, null, 1, Queue, cancellationToken);
        await AddAsync(1, cancellationToken);

        var again = await Held.AddToSequenceAsync(message, 3, 1, null, 1, Queue, cancellationToken);

        Assert.That(refused.IsFull);
        Assert.That(TextsOf(again), Is.EqualTo(new[] { "3" }));
    }

    [Test]
    public async Task Delayed_messages_of_a_line_continue_together_in_their_order(CancellationToken cancellationToken)
    {
        for (var n = 0; n < 3; n++)
            await Held.HoldUntilAsync(Message("k", $"{n}"), TimeSpan.FromMilliseconds(1), null, cancellationToken);
        await Held.HoldUntilAsync(Message("k", "later"), TimeSpan.FromHours(1), null, cancellationToken);
        await Held.HoldUntilAsync(Message("other", "other"), TimeSpan.FromMilliseconds(1), null, cancellationToken);
        await Task.Delay(50, cancellationToken); // all three are due
        var timer = await ClaimAsync(HeldTimers.Delay, cancellationToken, line: "k");

        var released = await Held.ReleaseDueAsync(timer, Queue, cancellationToken);

        Assert.That(TextsOf(released), Is.EqualTo(new[] { "0", "1", "2" }));
    }

    [Test]
    public async Task Messages_are_passed_on_in_one_commit_each_once_and_their_places_are_known(CancellationToken cancellationToken)
    {
        var (first, second, third) = (Passed("k", "1", "a"), Passed("k", "2", "a"), Passed("other", "3", "b"));
        await Held.PassAsync([first], cancellationToken);

        var changes = await Held.PassAsync([first, second, second with { }, third], cancellationToken);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(changes.Select(change => change.IsKnown), Is.EqualTo(new[] { true, false, true, false }));
            Assert.That(changes[1].FollowsUnpublished, "the first of the same line has not left the outbox yet");
            Assert.That(changes[3].FollowsUnpublished, Is.False);
            Assert.That(changes.SelectMany(TextsOf), Is.EqualTo(new[] { "2", "3" }));
            Assert.That(
                (await SentAsync(cancellationToken)).Select(sent => sent.Message.Message.Body.ReadText()),
                Is.EquivalentTo(new[] { "1", "2", "3" })
            );
            var run = await _store.Itineraries.FindAsync(third.Held.Message.Id, cancellationToken);
            Assert.That((run!.Stop, run.State), Is.EqualTo(("b", ItineraryState.Waiting)));
        }
    }

    [Test]
    public async Task Two_places_of_one_message_in_one_commit_are_the_later_one_and_an_end_stays(CancellationToken cancellationToken)
    {
        var passed = Passed("k", "1", "a");
        var later = passed with { Held = passed.Held with { Step = HeldMessage.StepOf("p", "b") }, Run = passed.Run with { Stop = "b" } };

        await Held.PassAsync([passed, later], cancellationToken);
        var second = await _store.Itineraries.FindAsync(passed.Run.MessageId, cancellationToken);
        await _store.Itineraries.SaveAsync([passed.Run with { State = ItineraryState.Completed }], cancellationToken);
        await _store.Itineraries.SaveAsync([passed.Run, later.Run], cancellationToken);
        var ended = await _store.Itineraries.FindAsync(passed.Run.MessageId, cancellationToken);

        Assert.That((second!.Stop, ended!.State), Is.EqualTo(("b", ItineraryState.Completed)));
    }

    private static PassedMessage Passed(string line, string text, string stop)
    {
        var held = Message(line, text);
        return new(held, Queue, new(held.Message.Id, "i", stop, ItineraryState.Waiting, held.Message.ConversationId));
    }

    private Task<SequenceChange> AddAsync(int number, CancellationToken cancellationToken, TimeSpan? within = null, int maxPending = 100) =>
        Held.AddToSequenceAsync(Message("k", $"{number}"), number, start: 1, within, maxPending, Queue, cancellationToken);

    private async Task<GroupChange> JoinAsync(HeldMessage message, GroupRule rule, CancellationToken cancellationToken) =>
        (await Held.AddToGroupsAsync([new GroupedMessage(message, rule)], cancellationToken)).Single();

    private async Task<StoredTimer> ClaimAsync(string kind, CancellationToken cancellationToken, string? line = null)
    {
        StoredTimer? found = null;
        await Eventually.HoldsAsync(
            async () =>
                (
                    found = (
                        await _store.Timers.ClaimAsync([kind], 10, TimeSpan.FromMilliseconds(1), cancellationToken)
                    ).Timers.FirstOrDefault(timer => line is null || timer.Target == line)
                )
                    is not null,
            cancellationToken
        );
        return found!;
    }

    private async Task<IReadOnlyList<OutboxMessage>> SentAsync(CancellationToken cancellationToken)
    {
        await _store.Outbox.ReleaseAsync(cancellationToken);
        return await _store.Outbox.ClaimAsync(100, TimeSpan.FromMinutes(1), cancellationToken);
    }

    private static IEnumerable<string> TextsOf(SequenceChange change) =>
        change.Released.Select(outgoing => outgoing.Message.Message.Body.ReadText());

    private static HeldMessage Message(string line, string text) =>
        new(Step, line, EsbMessage.Create(MessageBody.FromText(text), TimeProvider.System), "in", default);
}

public sealed class FileHeldMessagesTests : HeldMessagesContract
{
    private readonly TestFolder _folder = new();

    private protected override async Task<Store> OpenAsync() => await _folder.OpenAsync();

    protected override Task CloseAsync() => _folder.CloseAsync();
}

public sealed class PostgresHeldMessagesTests : HeldMessagesContract
{
    private TestSchema _schema = null!;

    private protected override async Task<Store> OpenAsync() => (_schema = await TestSchema.StartAsync()).Store;

    protected override async Task CloseAsync() => await _schema.DisposeAsync();
}
