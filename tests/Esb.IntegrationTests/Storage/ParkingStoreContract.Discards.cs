using Esb.Core.Storage;

namespace Esb.IntegrationTests.Storage;

/// <summary>What it promises to an operator who discards.</summary>
public abstract partial class ParkingStoreContract
{
    [Test, CancelAfter(60_000)]
    public async Task What_an_operator_discards_is_counted_and_the_key_goes_on_with_the_rest(CancellationToken cancellationToken)
    {
        var owner = await TakeAsync(cancellationToken);
        var messages = Enumerable.Range(0, 3).Select(_ => Message("a")).ToList();
        foreach (var message in messages)
            await _store.ParkAsync(owner, Parked(message), cancellationToken);

        var later = await _store.DiscardAsync(Endpoint, "a", [messages[1].Id], cancellationToken);
        var dueAfterLater = await _store.TakeDueAsync(Endpoint, cancellationToken);
        var first = await _store.DiscardAsync(Endpoint, "a", [messages[0].Id], cancellationToken);
        var dueAfterFirst = await _store.TakeDueAsync(Endpoint, cancellationToken);
        var unknown = await _store.DiscardAsync(Endpoint, "a", [Guid.NewGuid()], cancellationToken);
        var rest = await _store.DiscardAsync(Endpoint, "a", [.. messages.Select(message => message.Id)], cancellationToken);

        Assert.That((later, first, unknown, rest), Is.EqualTo((1L, 1L, 0L, 1L)), "those that still waited");
        Assert.That(dueAfterLater, Is.Empty, "its first message still waits for a word");
        Assert.That(dueAfterFirst, Is.EqualTo(["a"]));
        Assert.That(await _store.TryJoinAsync(owner, Parked(Message("a")), cancellationToken), Is.False, "the key is free");
    }

    [Test, CancelAfter(60_000)]
    public async Task What_is_recorded_of_those_that_are_discarded_is_told_before_from_the_end(CancellationToken cancellationToken)
    {
        var owner = await TakeAsync(cancellationToken);
        var messages = Enumerable
            .Range(0, 3)
            .Select(number => Message("a") with { ConversationId = Guid.NewGuid(), Attempt = number, Party = number == 1 ? "shop" : null })
            .ToList();
        foreach (var message in messages)
            await _store.ParkAsync(owner, Parked(message), cancellationToken);
        var wanted = messages
            .Select(message => new ParkedSummary(message.Id, message.ConversationId, message.Subject, message.Attempt, message.Party))
            .Reverse()
            .ToList();

        Assert.That(await _store.SummariesAsync(Endpoint, "a", null, 10, cancellationToken), Is.EqualTo(wanted));
        Assert.That(await _store.SummariesAsync(Endpoint, "a", null, 2, cancellationToken), Is.EqualTo(wanted.Take(2)));
        Assert.That(await _store.SummariesAsync(Endpoint, "a", messages[0].Id, 10, cancellationToken), Is.EqualTo(wanted.Skip(2)));
        Assert.That(await _store.SummariesAsync(Endpoint, "a", Guid.NewGuid(), 10, cancellationToken), Is.Empty);
        Assert.That(await _store.SummariesAsync(Endpoint, "b", null, 10, cancellationToken), Is.Empty);
    }

    [Test, CancelAfter(60_000)]
    public async Task A_long_line_is_discarded_in_groups_from_the_end_and_what_is_left_survives_the_process(
        CancellationToken cancellationToken
    )
    {
        var owner = await TakeAsync(cancellationToken);
        var messages = Enumerable.Range(0, 250).Select(_ => Message("a")).ToList();
        foreach (var message in messages)
            await _store.ParkAsync(owner, Parked(message), cancellationToken);

        var discarded = new List<long>();
        foreach (var group in messages.Skip(50).Reverse().Select(message => message.Id).Chunk(100))
            discarded.Add(await _store.DiscardAsync(Endpoint, "a", group, cancellationToken));
        _store = await ReopenAsync();

        Assert.That(discarded, Is.EqualTo([100L, 100L]));
        Assert.That((await _store.ListAsync(Endpoint, null, 10, cancellationToken)).Single().Count, Is.EqualTo(50));
        Assert.That(
            (await _store.MessagesAsync(Endpoint, "a", 0, 100, cancellationToken)).Select(parked => parked.Message.Id),
            Is.EqualTo(messages.Take(50).Select(message => message.Id))
        );
        Assert.That(await _store.TakeDueAsync(Endpoint, cancellationToken), Is.Empty, "its first message still waits for a word");
    }

    [Test, CancelAfter(60_000)]
    public async Task A_message_that_is_discarded_during_its_last_attempt_leaves_those_behind_it_due(CancellationToken cancellationToken)
    {
        var owner = await TakeAsync(cancellationToken);
        var (tried, next) = (Parked(Message("a"), Now.AddSeconds(-1)), Parked(Message("a")));
        await _store.ParkAsync(owner, tried, cancellationToken);
        await _store.TryJoinAsync(owner, next, cancellationToken);
        await _store.TakeDueAsync(Endpoint, cancellationToken);

        await _store.DiscardAsync(Endpoint, "a", [tried.Message.Id], cancellationToken);
        await _store.RescheduleAsync(owner, tried with { Message = tried.Message with { Attempt = 4 }, DueAt = null }, cancellationToken);

        var first = await _store.FirstAsync(owner, "a", cancellationToken);
        Assert.That((first!.Message.Id, first.Message.Attempt, first.DueAt is not null), Is.EqualTo((next.Message.Id, 0, true)));
        Assert.That(await _store.TakeDueAsync(Endpoint, cancellationToken), Is.EqualTo(["a"]));
    }

    [Test, CancelAfter(60_000)]
    public async Task An_operator_who_discards_and_an_arrival_that_joins_do_not_miss_each_other(CancellationToken cancellationToken)
    {
        var owner = await TakeAsync(cancellationToken);
        for (var round = 0; round < 50; round++)
        {
            var parked = Message("a");
            await _store.ParkAsync(owner, Parked(parked), cancellationToken);
            var arrival = Message("a");

            var discarding = Task.Run(() => _store.DiscardAsync(Endpoint, "a", [parked.Id], cancellationToken), cancellationToken);
            var joining = Task.Run(() => _store.TryJoinAsync(owner, Parked(arrival), cancellationToken), cancellationToken);
            await discarding;
            var hasJoined = await joining;

            var first = await _store.FirstAsync(owner, "a", cancellationToken);
            Assert.That(
                first?.Message.Id,
                Is.EqualTo(hasJoined ? arrival.Id : null),
                "who comes after the last was discarded finds no line"
            );
            Assert.That(first is null || first.DueAt is not null, Is.True, "who joined goes on");
            await _store.DiscardAsync(Endpoint, "a", [arrival.Id], cancellationToken);
        }
    }
}
