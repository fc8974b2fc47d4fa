using System.Collections.Concurrent;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Storage;

namespace Esb.IntegrationTests.Storage;

/// <summary>What every parking store promises.</summary>
public abstract partial class ParkingStoreContract
{
    private const string Endpoint = "orders-db";
    private static readonly DateTimeOffset Now = TimeProvider.System.GetUtcNow();

    private IParkingStore _store = null!;

    protected abstract Task<IParkingStore> OpenAsync();

    /// <summary>The same store, as another process finds it after the first has ended.</summary>
    protected abstract Task<IParkingStore> ReopenAsync();

    protected abstract Task CloseAsync();

    [SetUp]
    public async Task Open() => _store = await OpenAsync();

    [TearDown]
    public Task Close() => CloseAsync();

    [Test, CancelAfter(60_000)]
    public async Task A_message_comes_back_whole(CancellationToken cancellationToken)
    {
        var owner = await TakeAsync(cancellationToken);
        var dueAt = new DateTimeOffset(2026, 3, 1, 12, 0, 0, TimeSpan.Zero);
        var message = Message("customer-7") with
        {
            Subject = "orders.accepted",
            ContentType = "application/xml",
            CorrelationId = "c-1",
            Party = "shop",
            Attempt = 3,
            Headers = MessageHeaders.From([new("x-order", "A-1001"), new("x-empty", "")]),
            Body = MessageBody.FromBytes(new byte[] { 0, 255, 60, 0 }),
        };
        FailedAttempt[] failures = [new(dueAt, "ESB-A", "It \u0001 says „no“."), new(dueAt.AddSeconds(1), "ESB-B", "Again.")];

        await _store.ParkAsync(owner, new ParkedMessage(message, dueAt.AddSeconds(2), failures, dueAt.AddSeconds(3)), cancellationToken);

        var kept = await _store.FirstAsync(owner, "customer-7", cancellationToken);
        Assert.That(kept!.Message with { Headers = message.Headers, Body = message.Body }, Is.EqualTo(message));
        Assert.That(kept.Message.Headers, Is.EquivalentTo(message.Headers));
        Assert.That(kept.Message.Body.Bytes.ToArray(), Is.EqualTo(message.Body.Bytes.ToArray()));
        Assert.That((kept.ParkedAt, kept.DueAt), Is.EqualTo((dueAt.AddSeconds(2), dueAt.AddSeconds(3))));
        Assert.That(kept.Failures, Is.EqualTo(failures));
    }

    [Test, CancelAfter(60_000)]
    public async Task A_line_keeps_its_order_and_leaves_in_it(CancellationToken cancellationToken)
    {
        var owner = await TakeAsync(cancellationToken);
        var messages = Enumerable.Range(0, 20).Select(_ => Message("a")).ToList();
        await _store.ParkAsync(owner, Parked(messages[0]), cancellationToken);
        foreach (var message in messages.Skip(1))
            await _store.TryJoinAsync(owner, Parked(message), cancellationToken);

        var left = new List<Guid>();
        var isFree = false;
        while (!isFree)
        {
            var first = await _store.FirstAsync(owner, "a", cancellationToken);
            left.Add(first!.Message.Id);
            isFree = await _store.RemoveAsync(owner, first, cancellationToken);
        }

        Assert.That(left, Is.EqualTo(messages.Select(message => message.Id)));
        Assert.That(await _store.FirstAsync(owner, "a", cancellationToken), Is.Null);
        Assert.That(await _store.ListAsync(null, null, 10, cancellationToken), Is.Empty);
    }

    [Test, CancelAfter(60_000)]
    public async Task Nobody_joins_a_line_that_is_not_there(CancellationToken cancellationToken)
    {
        var owner = await TakeAsync(cancellationToken);

        Assert.That(await _store.TryJoinAsync(owner, Parked(Message("a")), cancellationToken), Is.False);
        Assert.That(await _store.ListAsync(null, null, 10, cancellationToken), Is.Empty);
    }

    [Test, CancelAfter(60_000)]
    public async Task The_same_message_is_parked_once(CancellationToken cancellationToken)
    {
        var owner = await TakeAsync(cancellationToken);
        var message = Message("a");

        await _store.ParkAsync(owner, Parked(message), cancellationToken);
        await _store.ParkAsync(owner, Parked(message), cancellationToken);
        await _store.TryJoinAsync(owner, Parked(message), cancellationToken);

        Assert.That((await _store.ListAsync(null, null, 10, cancellationToken)).Single().Count, Is.EqualTo(1));
    }

    [Test, CancelAfter(60_000)]
    public async Task Who_takes_a_lane_learns_what_is_parked_and_keeps_earlier_owners_out(CancellationToken cancellationToken)
    {
        var stale = await TakeAsync(cancellationToken);
        var parked = Parked(Message("a"));
        await _store.ParkAsync(stale, parked, cancellationToken);
        var otherLane = await _store.TakeLaneAsync(Endpoint, 1, cancellationToken);

        var owner = await TakeAsync(cancellationToken);

        Assert.That(owner.ParkedKeys, Is.EqualTo(["a"]));
        Assert.That(owner.Token, Is.GreaterThan(stale.Token));
        foreach (
            var attempt in new Func<Task>[]
            {
                () => _store.VerifyAsync(stale, cancellationToken),
                () => _store.ParkAsync(stale, Parked(Message("b")), cancellationToken),
                () => _store.TryJoinAsync(stale, Parked(Message("a")), cancellationToken),
                () => _store.FirstAsync(stale, "a", cancellationToken),
                () => _store.RemoveAsync(stale, parked, cancellationToken),
                () => _store.RescheduleAsync(stale, parked, cancellationToken),
            }
        )
        {
            Assert.That(async () => await attempt(), Throws.TypeOf<EsbException>().With.Property("Code").EqualTo("ESB-LANE-LOST"));
        }

        await _store.VerifyAsync(owner, cancellationToken);
        await _store.VerifyAsync(otherLane, cancellationToken);
        Assert.That(
            (await _store.ListAsync(Endpoint, null, 10, cancellationToken)).Select(key => (key.Key, key.Count)),
            Is.EqualTo([("a", 1L)])
        );
    }

    [Test, CancelAfter(60_000)]
    public async Task A_key_is_due_at_its_time_and_told_once(CancellationToken cancellationToken)
    {
        var owner = await TakeAsync(cancellationToken);
        await _store.ParkAsync(owner, Parked(Message("due"), Now.AddSeconds(-1)), cancellationToken);
        await _store.ParkAsync(owner, Parked(Message("later"), Now.AddHours(1)), cancellationToken);
        await _store.ParkAsync(owner, Parked(Message("operator")), cancellationToken);

        var told = await Task.WhenAll(Enumerable.Range(0, 8).Select(_ => _store.TakeDueAsync(Endpoint, cancellationToken)));

        Assert.That(told.SelectMany(keys => keys), Is.EqualTo(["due"]));
        Assert.That(await _store.TakeDueAsync("other", cancellationToken), Is.Empty);
    }

    [Test, CancelAfter(60_000)]
    public async Task Another_attempt_leaves_its_traces_and_the_next_time(CancellationToken cancellationToken)
    {
        var owner = await TakeAsync(cancellationToken);
        var parked = Parked(Message("a"), Now.AddSeconds(-1));
        await _store.ParkAsync(owner, parked, cancellationToken);
        FailedAttempt failure = new(At(1), "ESB-X", "No.");

        await _store.RescheduleAsync(
            owner,
            parked with
            {
                Message = parked.Message with { Attempt = 4 },
                Failures = [failure],
                DueAt = null,
            },
            cancellationToken
        );

        var first = await _store.FirstAsync(owner, "a", cancellationToken);
        Assert.That((first!.Message.Attempt, first.DueAt, first.Failures.Single().Code), Is.EqualTo((4, (DateTimeOffset?)null, "ESB-X")));
        Assert.That(await _store.TakeDueAsync(Endpoint, cancellationToken), Is.Empty);
        Assert.That((await _store.ListAsync(Endpoint, null, 10, cancellationToken)).Single().Failure, Is.EqualTo(failure));
    }

    [Test, CancelAfter(60_000)]
    public async Task An_operator_makes_a_key_due(CancellationToken cancellationToken)
    {
        var owner = await TakeAsync(cancellationToken);
        await _store.ParkAsync(owner, Parked(Message("a")), cancellationToken);

        Assert.That(await _store.ReleaseAsync(Endpoint, "a", cancellationToken), Is.True);
        Assert.That(await _store.ReleaseAsync(Endpoint, "b", cancellationToken), Is.False);
        Assert.That(await _store.TakeDueAsync(Endpoint, cancellationToken), Is.EqualTo(["a"]));
    }

    [Test, CancelAfter(60_000)]
    public async Task Parked_keys_are_listed_the_longest_parked_first_with_their_messages(CancellationToken cancellationToken)
    {
        var owner = await TakeAsync(cancellationToken);
        var messages = Enumerable.Range(0, 3).Select(_ => Message("old")).ToList();
        await _store.ParkAsync(owner, Parked(Message("new")) with { ParkedAt = Now }, cancellationToken);
        foreach (var message in messages)
            await _store.ParkAsync(owner, Parked(message) with { ParkedAt = Now.AddHours(-1) }, cancellationToken);

        var keys = await _store.ListAsync(null, null, 10, cancellationToken);

        Assert.That(keys.Select(key => (key.Endpoint, key.Key, key.Count)), Is.EqualTo([(Endpoint, "old", 3L), (Endpoint, "new", 1L)]));
        Assert.That(await _store.ListAsync("other", null, 10, cancellationToken), Is.Empty);
        Assert.That(await _store.ListAsync(null, null, 1, cancellationToken), Has.Count.EqualTo(1));
        Assert.That(
            (await _store.MessagesAsync(Endpoint, "old", 0, 2, cancellationToken)).Select(parked => parked.Message.Id),
            Is.EqualTo(messages.Take(2).Select(message => message.Id))
        );
    }

    [Test, CancelAfter(60_000)]
    public async Task Pages_of_keys_and_of_a_line_hold_everything_once(CancellationToken cancellationToken)
    {
        var owner = await TakeAsync(cancellationToken);
        foreach (var key in Enumerable.Range(0, 7)) // some parked in the same moment
            await _store.ParkAsync(owner, Parked(Message($"k-{key}")) with { ParkedAt = Now.AddSeconds(key / 3) }, cancellationToken);
        var line = Enumerable.Range(0, 5).Select(_ => Message("k-0")).ToList();
        foreach (var message in line)
            await _store.ParkAsync(owner, Parked(message), cancellationToken);

        var (keys, messages) = (new List<string>(), new List<Guid>());
        for (ParkedPosition? after = null; ; )
        {
            var page = await _store.ListAsync(null, after, 2, cancellationToken);
            if (page.Count == 0)
                break;
            keys.AddRange(page.Select(key => key.Key));
            after = new ParkedPosition(page[^1].Since, page[^1].Endpoint, page[^1].Key);
        }

        for (var after = 0L; ; )
        {
            var page = await _store.MessagesAsync(Endpoint, "k-0", after, 2, cancellationToken);
            if (page.Count == 0)
                break;
            messages.AddRange(page.Select(parked => parked.Message.Id));
            after = page[^1].Number;
        }

        var whole = await _store.ListAsync(null, null, 1000, cancellationToken);
        Assert.That(keys, Is.EqualTo(whole.Select(key => key.Key)));
        Assert.That(keys, Is.EquivalentTo(Enumerable.Range(0, 7).Select(key => $"k-{key}")));
        Assert.That(messages.Skip(1), Is.EqualTo(line.Select(message => message.Id)));
        var last = await _store.FindAsync(Endpoint, "k-0", line[^1].Id, cancellationToken);
        Assert.That(last?.Message.Id, Is.EqualTo(line[^1].Id));
        Assert.That(await _store.FindAsync(Endpoint, "k-1", line[^1].Id, cancellationToken), Is.Null);
    }

    [TestCase("", TestName = "An empty key")]
    [TestCase("'; drop table parked_key; --", TestName = "A key that looks like SQL")]
    [TestCase("größe 😀", TestName = "A key beyond ASCII")]
    public async Task Odd_keys_are_kept_apart(string key)
    {
        var owner = await TakeAsync(default);
        var lone = new string(['k', '\0', '\ud83d']);
        string[] longKeys = [new string('x', 5000) + "1", new string('x', 5000) + "2"];

        foreach (var one in (string[])[key, lone, .. longKeys])
            await _store.ParkAsync(owner, Parked(Message(one)), default);

        Assert.That((await _store.ListAsync(null, null, 10, default)).Select(parked => parked.Count), Is.EqualTo([1L, 1L, 1L, 1L]));
        Assert.That(await _store.FirstAsync(owner, LineKey.Of(Message(lone)), default), Is.Not.Null);
        Assert.That(await _store.FirstAsync(owner, longKeys[1], default), Is.Not.Null);
        Assert.That((await TakeAsync(default)).ParkedKeys, Does.Contain(LineKey.Of(Message(lone))).And.Contain(key));
    }

    [Test, CancelAfter(60_000)]
    public async Task Arrivals_join_while_the_line_is_released_and_none_is_lost_or_left_behind(CancellationToken cancellationToken)
    {
        var owner = await TakeAsync(cancellationToken);
        var first = Message("a");
        await _store.ParkAsync(owner, Parked(first), cancellationToken);
        var (joined, passed, left) = (new ConcurrentQueue<Guid>(), new ConcurrentQueue<Guid>(), new List<Guid>());

        var arriving = Task.Run(
            async () =>
            {
                for (var i = 0; i < 200; i++)
                {
                    var message = Message("a");
                    (await _store.TryJoinAsync(owner, Parked(message), cancellationToken) ? joined : passed).Enqueue(message.Id);
                }
            },
            cancellationToken
        );
        while (await _store.FirstAsync(owner, "a", cancellationToken) is { } next)
        {
            left.Add(next.Message.Id);
            await _store.RemoveAsync(owner, next, cancellationToken);
        }

        await arriving;

        // Once the last one has left, all that come later pass: the key is free for good.
        Assert.That(left, Is.EqualTo(joined.Prepend(first.Id)));
        Assert.That(joined.Count + passed.Count, Is.EqualTo(200));
        Assert.That(await _store.ListAsync(null, null, 10, cancellationToken), Is.Empty);
    }

    [Test, CancelAfter(60_000)]
    public async Task Lines_survive_the_end_of_the_process(CancellationToken cancellationToken)
    {
        var owner = await TakeAsync(cancellationToken);
        var messages = Enumerable.Range(0, 5).Select(_ => Message("a")).ToList();
        foreach (var message in messages)
            await _store.ParkAsync(owner, Parked(message, Now.AddHours(1)), cancellationToken);
        await _store.RemoveAsync(owner, Parked(messages[0]), cancellationToken);
        await _store.RescheduleAsync(
            owner,
            Parked(messages[1], Now.AddHours(-1)) with
            {
                Message = messages[1] with { Attempt = 7 },
            },
            cancellationToken
        );

        _store = await ReopenAsync();

        var later = await TakeAsync(cancellationToken);
        Assert.That(later.ParkedKeys, Is.EqualTo(["a"]));
        Assert.That(
            (await _store.MessagesAsync(Endpoint, "a", 0, 10, cancellationToken)).Select(parked => parked.Message.Id),
            Is.EqualTo(messages.Skip(1).Select(message => message.Id))
        );
        Assert.That((await _store.FirstAsync(later, "a", cancellationToken))!.Message.Attempt, Is.EqualTo(7));
        Assert.That(await _store.TakeDueAsync(Endpoint, cancellationToken), Is.EqualTo(["a"]));
    }

    private static DateTimeOffset At(int second) => new(2026, 3, 1, 12, 0, second, TimeSpan.Zero);

    private static EsbMessage Message(string key)
    {
        var id = Guid.CreateVersion7();
        return new EsbMessage
        {
            Id = id,
            ConversationId = id,
            CreatedAt = At(0),
            Subject = "orders.accepted",
            Key = key,
            Body = MessageBody.FromBytes(id.ToByteArray()),
        };
    }

    private static ParkedMessage Parked(EsbMessage message, DateTimeOffset? dueAt = null) => new(message, At(1), [], dueAt);

    private Task<LaneOwner> TakeAsync(CancellationToken cancellationToken) => _store.TakeLaneAsync(Endpoint, 0, cancellationToken);
}
