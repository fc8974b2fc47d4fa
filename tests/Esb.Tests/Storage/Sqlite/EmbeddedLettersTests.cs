using System.Diagnostics;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Tests.Fakes;

namespace Esb.Tests.Storage.Sqlite;

[CancelAfter(60_000)]
public sealed class EmbeddedLettersTests
{
    private static readonly DateTimeOffset Start = new(2026, 3, 1, 12, 0, 0, TimeSpan.Zero);

    [Test]
    public async Task Letter_that_comes_back_over_and_over_is_one_row_with_the_highest_number(CancellationToken cancellationToken)
    {
        await using var embedded = new EmbeddedStore();
        var store = await embedded.OpenAsync(cancellationToken);
        var letters = Enumerable.Range(0, 3).Select(Letter).ToList();
        foreach (var letter in letters)
            await store.DeadLetters.AddAsync(letter, cancellationToken);
        for (var again = 1; again <= 30; again++)
            await store.DeadLetters.AddAsync(letters[0] with { LastAttempt = Start.AddHours(again) }, cancellationToken);
        var before = await FindAsync(store.DeadLetters, cancellationToken);

        store = await embedded.ReopenAsync(cancellationToken);
        await store.DeadLetters.AddAsync(Letter(3), cancellationToken);
        var after = await FindAsync(store.DeadLetters, cancellationToken);

        Assert.That(before.Select(letter => letter.Id), Is.EqualTo(new[] { letters[0].Id, letters[2].Id, letters[1].Id }));
        Assert.That(after.Skip(1), Is.EqualTo(before));
        Assert.That(after[0].Number, Is.GreaterThan(before[0].Number));
        Assert.That(
            (await store.DeadLetters.GetAsync(letters[0].Id, cancellationToken))!.Letter.Message.Body.ReadText(),
            Is.EqualTo("<order number='0'/>")
        );
    }

    [Test]
    public async Task No_number_is_given_twice_also_after_the_highest_was_removed(CancellationToken cancellationToken)
    {
        await using var embedded = new EmbeddedStore();
        var store = await embedded.OpenAsync(cancellationToken);
        var letter = Letter(0);
        await store.DeadLetters.AddAsync(letter, cancellationToken);
        await store.DeadLetters.AddAsync(letter with { LastAttempt = Start.AddHours(1) }, cancellationToken);
        var highest = (await FindAsync(store.DeadLetters, cancellationToken))[0].Number;
        await store.DeadLetters.DiscardAsync(new() { Ids = [letter.Id] }, new("ada", "paid"), 1, cancellationToken);
        await store.LetterRetention.RemoveSettledAsync(embedded.Time.GetUtcNow().AddHours(1), cancellationToken);

        await store.DeadLetters.AddAsync(Letter(1), cancellationToken);

        Assert.That((await FindAsync(store.DeadLetters, cancellationToken)).Single().Number, Is.GreaterThan(highest));
    }

    [Test]
    public async Task Room_of_removed_letters_goes_back_to_the_disk(CancellationToken cancellationToken)
    {
        await using var embedded = new EmbeddedStore();
        var store = await embedded.OpenAsync(cancellationToken);
        var letters = Enumerable
            .Range(0, 40)
            .Select(number =>
                Letter(number) with
                {
                    Message = Letter(number).Message with { Body = MessageBody.FromBytes(new byte[100_000]) },
                }
            )
            .ToList();
        foreach (var letter in letters)
            await store.DeadLetters.AddAsync(letter, cancellationToken);
        foreach (var letter in letters)
            await store.DeadLetters.DiscardAsync(new() { Ids = [letter.Id] }, new("ada", "paid"), 1, cancellationToken);
        await store.LetterRetention.RemoveSettledAsync(embedded.Time.GetUtcNow().AddHours(1), cancellationToken);

        await store.DisposeAsync();
        var full = new FileInfo(embedded.Database).Length;
        await embedded.OpenAsync(cancellationToken); // keeps house
        await Eventually.HoldsAsync(() => embedded.Ask<long>("pragma freelist_count") == 0, "the room is given back", cancellationToken);
        await embedded.Store.DisposeAsync();

        Assert.That(full, Is.GreaterThan(3_000_000));
        Assert.That(new FileInfo(embedded.Database).Length, Is.LessThan(1_000_000));
    }

    [Test, Category("Thorough"), CancelAfter(300_000)]
    public async Task Hundred_thousand_letters_are_listed_and_grouped_within_a_second(CancellationToken cancellationToken)
    {
        await using var embedded = new EmbeddedStore();
        var store = await embedded.OpenAsync(cancellationToken);
        foreach (var chunk in Enumerable.Range(1, 100_000).Chunk(1_000))
            await Task.WhenAll(
                chunk.Select(number =>
                    store.DeadLetters.AddAsync(
                        Letter(number) with
                        {
                            Endpoint = $"endpoint-{number % 10}",
                            Reason = $"Order {number} is unknown.",
                        },
                        cancellationToken
                    )
                )
            );
        List<DeadLetterSummary> page = [];
        IReadOnlyList<DeadLetterGroup> groups = [];
        var (fastest, limit) = (TimeSpan.MaxValue, TimeSpan.FromSeconds(1));
        for (var round = 0; round < 5 || (fastest >= limit && round < 40); round++) // one round alone tells of the machine, too
        {
            var started = Stopwatch.GetTimestamp();
            page = await store
                .DeadLetters.FindAsync(
                    new()
                    {
                        Filter = new() { Endpoint = "endpoint-7" },
                        Before = 50_000,
                    },
                    cancellationToken
                )
                .ToListAsync(cancellationToken);
            groups = await store.DeadLetters.GroupAsync(new() { State = DeadLetterState.Open }, byCause: true, cancellationToken);
            fastest = new[] { fastest, Stopwatch.GetElapsedTime(started) }.Min();
        }

        Assert.That(fastest, Is.LessThan(limit));
        Assert.That(page, Has.Count.EqualTo(100));
        Assert.That(groups.Select(group => group.Count), Is.EqualTo(Enumerable.Repeat(10_000, 10)));
    }

    [Test]
    public async Task Text_that_no_database_can_hold_is_kept_with_a_replacement(CancellationToken cancellationToken)
    {
        await using var embedded = new EmbeddedStore();
        var store = await embedded.OpenAsync(cancellationToken);
        var letter = Letter(0) with { Reason = "a\0b \ud800 ÄRGER" };

        await store.DeadLetters.AddAsync(letter, cancellationToken);

        Assert.That((await FindAsync(store.DeadLetters, cancellationToken)).Single().Reason, Is.EqualTo("a\ufffdb \ufffd ÄRGER"));
        Assert.That(
            await store.DeadLetters.FindAsync(new() { Filter = new() { Text = "ärger" } }, cancellationToken).CountAsync(cancellationToken),
            Is.EqualTo(1)
        );
    }

    private static DeadLetter Letter(int number) =>
        new(
            Some.Message($"<order number='{number}'/>", "orders.accepted") with
            {
                Headers = MessageHeaders.From([new("x-order", $"A-{number}")]),
            },
            "orders-db",
            "ESB-SQL-TIMEOUT",
            "The database did not answer.",
            null,
            1,
            Start,
            Start
        );

    private static async Task<List<DeadLetterSummary>> FindAsync(IDeadLetterStore store, CancellationToken cancellationToken) =>
        await store.FindAsync(new() { Limit = 1000 }, cancellationToken).ToListAsync(cancellationToken);
}
