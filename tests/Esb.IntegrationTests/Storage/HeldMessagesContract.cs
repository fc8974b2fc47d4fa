using Esb.Core.Itineraries;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.IntegrationTests.Topics;
using Esb.Storage;

namespace Esb.IntegrationTests.Storage;

/// <summary>What every store of held messages promises.</summary>
[CancelAfter(60_000)]
public abstract partial class HeldMessagesContract
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

    private protected static HeldMessage Message(string line, string text) =>
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

    private protected override async Task<Store> OpenAsync() => (_schema = await TestSchema.ShareAsync()).Store;

    protected override async Task CloseAsync() => await _schema.DisposeAsync();

    [Test]
    public async Task Message_of_a_group_is_stored_without_reading_the_lines_and_timers_of_others(CancellationToken cancellationToken)
    {
        var rule = new GroupRule(Expected: 2, IsLast: false, 100, 1_000_000, Idle: TimeSpan.FromHours(1), Within: null);
        for (var time = 0; time < 20; time++) // as often as gives the statements plans of their own, made for a small table
            await JoinAsync();
        await _schema.RunAsync(
            """
            insert into held_line (line, step, group_id, count, size, opened_at, changed_at)
              select md5(number::text), 's', gen_random_uuid(), 1, 1, now(), now() from generate_series(1, 50000) as number;
            insert into timer (id, kind, target, due_at)
              select gen_random_uuid(), 'held.group', 'x', now() + interval '1 day' from generate_series(1, 50000)
            """
        );

        Assert.That(await _schema.RowsReadAsync("held_line", 50, JoinAsync, cancellationToken), Is.LessThan(50 * 100));
        Assert.That(await _schema.RowsReadAsync("timer", 50, JoinAsync, cancellationToken), Is.LessThan(50 * 100));

        Task JoinAsync() =>
            _schema.Store.Held.AddToGroupsAsync(
                [new(Message("k", "1"), rule), new(Message($"{Guid.NewGuid()}", "2"), rule)],
                cancellationToken
            );
    }

    [Test]
    public async Task Due_messages_of_a_line_are_found_without_reading_those_that_wait(CancellationToken cancellationToken)
    {
        await _schema.Store.Held.HoldUntilAsync(Message("k", "first"), TimeSpan.FromHours(1), null, cancellationToken);
        await _schema.RunAsync(
            """
            create table one as select * from held_message;
            insert into held_message (line, step, due_at, stored_at, endpoint, message_id, conversation_id, subject, created_at, attempt,
              headers, body)
            select line, step, due_at, stored_at, endpoint, message_id, conversation_id, subject, created_at, attempt, headers, body
            from one, generate_series(1, 50000);
            analyze held_message
            """
        );

        Assert.That(await _schema.RowsReadAsync("held_message", 20, ReleaseAsync, cancellationToken), Is.LessThan(20 * 100));

        async Task ReleaseAsync()
        {
            var timer = new StoredTimer(Guid.NewGuid(), HeldTimers.Delay, "k");
            var released = await _schema.Store.Held.ReleaseDueAsync(timer, "process:p", cancellationToken);
            Assert.That(released.Released, Is.Empty);
        }
    }
}
