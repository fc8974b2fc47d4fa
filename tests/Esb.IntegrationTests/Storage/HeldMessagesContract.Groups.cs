using Esb.Core.Storage;
using Esb.Core.Topics;

namespace Esb.IntegrationTests.Storage;

/// <summary>Groups.</summary>
public abstract partial class HeldMessagesContract
{
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

        var changes = await Task.WhenAll(Enumerable.Range(0, 50).Select(n => JoinAsync(Message("k", $"{n}"), rule, cancellationToken)));

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
        HeldMessage[] messages =
        [
            known,
            Message("a", "a2"),
            twice,
            .. "345678".Select(n => Message("a", $"a{n}")),
            twice,
            Message("b", "b2"),
        ];

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
        foreach (var group in groups)
        {
            var stored = await Held.ReadGroupAsync(group.Key, cancellationToken);
            Assert.That(stored.Select(held => held.Message.Body.ReadText()).Distinct().Count(), Is.EqualTo(7));
            Assert.That(stored, Has.Count.EqualTo(7));
        }

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
    public async Task Timers_of_a_commit_are_those_of_open_groups_and_of_releases(CancellationToken cancellationToken)
    {
        var soon = TimeSpan.FromMilliseconds(1);
        var rule = new GroupRule(Expected: 2, IsLast: false, 100, 1_000_000, Idle: soon, Within: soon);
        var before = await JoinAsync(Message("a", "a1"), rule, cancellationToken);

        var changes = await Held.AddToGroupsAsync(
            [.. new[] { "a2", "a3", "b1", "b2" }.Select(text => new GroupedMessage(Message(text[..1], text), rule))],
            cancellationToken
        );

        await Task.Delay(50, cancellationToken); // all are due
        var timers = (await _store.Timers.ClaimAsync([HeldTimers.Group], 100, TimeSpan.FromMinutes(1), cancellationToken)).Timers;
        var open = changes[1].Group;
        Assert.That(changes.Select(change => change.Release is not null), Is.EqualTo(new[] { true, false, false, true }));
        Assert.That(changes[0].Group, Is.EqualTo(before.Group));
        Assert.That(timers.Select(timer => timer.Data), Is.EqualTo(new[] { $"{open}", $"{open}" }), "idle and within, of the open group");
        var closed = await Held.CloseGroupAsync(timers[0], GroupReasons.Time, cancellationToken);
        var twice = await Held.CloseGroupAsync(timers[1], GroupReasons.Time, cancellationToken);
        Assert.That((closed?.Data, twice), Is.EqualTo(($"{open} {GroupReasons.Time}", (StoredTimer?)null)));
        Assert.That(await Held.ReadGroupAsync(open, cancellationToken), Has.Count.EqualTo(1));
    }

    [Test]
    public async Task Line_of_a_step_that_was_another_before_has_groups(CancellationToken cancellationToken)
    {
        var rule = new GroupRule(Expected: 2, IsLast: false, 100, 1_000_000, Idle: null, TimeSpan.FromHours(1));
        await AddAsync(1, cancellationToken); // a sequence

        var first = await JoinAsync(Message("k", "2"), rule, cancellationToken);
        var second = await JoinAsync(Message("k", "3"), rule, cancellationToken);

        Assert.That((first.Group, second.Release is not null), Is.EqualTo((second.Group, true)));
        Assert.That(await Held.ReadGroupAsync(first.Group, cancellationToken), Has.Count.EqualTo(2));
    }

    [Test]
    public async Task Large_body_goes_into_its_group_in_order(CancellationToken cancellationToken)
    {
        var rule = new GroupRule(Expected: 3, IsLast: false, 100, long.MaxValue, Idle: null, TimeSpan.FromHours(1));
        string[] texts = ["a", new('b', 100 << 20), "c"];

        var changes = await Held.AddToGroupsAsync(
            [.. texts.Select(text => new GroupedMessage(Message("k", text), rule))],
            cancellationToken
        );

        var stored = await Held.ReadGroupAsync(changes[0].Group, cancellationToken);
        Assert.That(stored.Select(held => held.Message.Body.Length), Is.EqualTo(texts.Select(text => text.Length)));
    }

    private async Task<GroupChange> JoinAsync(HeldMessage message, GroupRule rule, CancellationToken cancellationToken) =>
        (await Held.AddToGroupsAsync([new GroupedMessage(message, rule)], cancellationToken)).Single();
}
