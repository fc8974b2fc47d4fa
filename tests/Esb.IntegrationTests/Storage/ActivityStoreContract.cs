using Esb.Core.Activities;
using Esb.Storage;
using NUnit.Framework;

namespace Esb.IntegrationTests.Storage;

/// <summary>What every store of activities promises.</summary>
[CancelAfter(60_000)]
public abstract class ActivityStoreContract
{
    private static readonly DateTimeOffset Noon = new(2026, 3, 1, 12, 0, 0, TimeSpan.Zero);

    private readonly Guid _conversation = Guid.NewGuid();
    private IActivityStore _store = null!;

    private protected abstract Task<Store> OpenAsync();

    private protected abstract Task<Store> ReopenAsync();

    protected abstract Task CloseAsync();

    [SetUp]
    public async Task Open() => _store = (await OpenAsync()).Activities;

    [TearDown]
    public Task Close() => CloseAsync();

    [Test]
    public async Task Facts_without_a_key_belong_to_the_item_that_their_conversation_is_about(CancellationToken cancellationToken)
    {
        await _store.RecordAsync(
            [Passed("received", 0), Passed("priced", 5, "A-1") with { Data = Data("total", "10") }],
            cancellationToken
        );
        await _store.RecordAsync([Passed("delivered", 9) with { Ends = true }], cancellationToken);

        var item = (await AllAsync(cancellationToken)).Single();

        Assert.Multiple(() =>
        {
            Assert.That(item.Key, Is.EqualTo("A-1"));
            Assert.That(
                item.Milestones,
                Is.EquivalentTo(
                    new Dictionary<string, DateTimeOffset>
                    {
                        ["received"] = At(0),
                        ["priced"] = At(5),
                        ["delivered"] = At(9),
                    }
                )
            );
            Assert.That((item.StartedAt, item.CompletedAt), Is.EqualTo((At(0), (DateTimeOffset?)At(9))));
            Assert.That(item.Data, Is.EquivalentTo(Data("total", "10")));
        });
    }

    [Test]
    public async Task Neither_the_order_of_facts_counts_nor_how_often_they_come(CancellationToken cancellationToken)
    {
        var other = Guid.NewGuid();
        ActivityProgress[] facts =
        [
            Passed("received", 0),
            Passed("priced", 5, "A-1") with
            {
                Data = Data("total", "10"),
            },
            Passed("priced", 6, "A-1") with
            {
                Data = Data("total", "12"),
            },
            Passed("delivered", 9) with
            {
                Ends = true,
            },
            Passed("delivered", 8) with
            {
                Ends = true,
            },
            Passed("shipped", 20, "A-1") with
            {
                ConversationId = other,
            },
            Passed("received", 19) with
            {
                ConversationId = other,
            },
        ];
        var random = new Random(6);
        for (var round = 0; round < 20; round++)
        {
            var activity = $"round-{round}";
            foreach (var fact in facts.Concat(facts).OrderBy(_ => random.Next()))
                await _store.RecordAsync([fact with { Activity = activity }], cancellationToken);

            var item = (await AllAsync(cancellationToken, activity)).Single();

            Assert.That(
                item.Milestones.OrderBy(one => one.Value).Select(one => (one.Key, (one.Value - Noon).TotalSeconds)),
                Is.EqualTo(new[] { ("received", 0.0), ("priced", 5.0), ("delivered", 8.0), ("shipped", 20.0) })
            );
            Assert.That(
                (item.CompletedAt, item.ConversationId, item.Data["total"]),
                Is.EqualTo(((DateTimeOffset?)At(8), _conversation, "12"))
            );
        }
    }

    [Test]
    public async Task Item_of_which_nobody_has_said_the_key_counts_all_the_same(CancellationToken cancellationToken)
    {
        await _store.RecordAsync([Passed("received", 0)], cancellationToken);

        Assert.That((await AllAsync(cancellationToken)).Single().Key, Is.Null);
        Assert.That(await _store.CountOpenAsync("order", null, cancellationToken), Is.EqualTo(1));
    }

    [Test]
    public async Task Conversation_may_be_about_several_items(CancellationToken cancellationToken)
    {
        await _store.RecordAsync(
            [
                Passed("received", 0),
                Passed("priced", 1, "A-1"),
                Passed("priced", 2, "A-2"),
                Passed("delivered", 3, "A-2") with
                {
                    Ends = true,
                },
            ],
            cancellationToken
        );

        var items = await AllAsync(cancellationToken);

        Assert.That(
            items.Select(item => (item.Key, item.StartedAt, item.CompletedAt)),
            Is.EquivalentTo(new[] { ("A-1", At(0), (DateTimeOffset?)null), ("A-2", At(0), At(3)) })
        );
    }

    [Test]
    public async Task Fact_without_a_key_in_a_conversation_about_very_many_items_belongs_to_a_thousand_of_them(
        CancellationToken cancellationToken
    )
    {
        await _store.RecordAsync([.. Enumerable.Range(0, 1_100).Select(number => Passed("priced", 1, $"A-{number}"))], cancellationToken);
        await _store.RecordAsync([Passed("delivered", 2)], cancellationToken);
        await _store.RecordAsync([Passed("delivered", 2)], cancellationToken);

        var items = await AllAsync(cancellationToken);

        Assert.That((items.Count, items.Count(item => item.Milestones.ContainsKey("delivered"))), Is.EqualTo((1_100, 1_000)));
        Assert.That(items, Has.All.Matches<ActivityItem>(item => item.Milestones.ContainsKey("priced")));
    }

    [Test]
    public async Task What_was_recorded_is_there_after_the_end_of_the_process(CancellationToken cancellationToken)
    {
        await _store.RecordAsync([Passed("received", 0), Passed("priced", 5, "A-1")], cancellationToken);

        _store = (await ReopenAsync()).Activities;
        await _store.RecordAsync([Passed("delivered", 9) with { Ends = true }], cancellationToken);

        Assert.That(
            (await AllAsync(cancellationToken)).Single().Milestones.Keys,
            Is.EquivalentTo(new[] { "received", "priced", "delivered" })
        );
    }

    [Test]
    public async Task Items_are_found_by_key_state_and_time_and_page_by_page(CancellationToken cancellationToken)
    {
        for (var number = 0; number < 10; number++)
        {
            var conversation = Guid.NewGuid();
            await _store.RecordAsync(
                [Passed("received", number / 2, $"N-{number}") with { ConversationId = conversation }],
                cancellationToken
            );
            if (number < 4)
                await _store.RecordAsync([Passed("delivered", 100) with { ConversationId = conversation, Ends = true }], cancellationToken);
        }

        var pages = new List<string?>();
        for (ActivityPosition? before = null; ; )
        {
            var page = await FindAsync(
                new ActivityQuery
                {
                    Activity = "order",
                    Limit = 3,
                    Before = before,
                },
                cancellationToken
            );
            pages.AddRange(page.Select(item => item.Key));
            if (page.Count < 3)
                break;
            before = new ActivityPosition(page[^1].StartedAt, page[^1].Id);
        }

        Assert.That(pages, Is.EqualTo(new[] { "N-9", "N-8", "N-7", "N-6", "N-5", "N-4", "N-3", "N-2", "N-1", "N-0" }));
        Assert.That(
            (await FindAsync(new ActivityQuery { Activity = "order", Key = "N-7" }, cancellationToken)).Single().Key,
            Is.EqualTo("N-7")
        );
        Assert.That(await FindAsync(new ActivityQuery { Activity = "order", IsCompleted = true }, cancellationToken), Has.Count.EqualTo(4));
        Assert.That(
            await FindAsync(
                new ActivityQuery
                {
                    Activity = "order",
                    To = At(3),
                    IsCompleted = false,
                },
                cancellationToken
            ),
            Has.Count.EqualTo(2)
        );
        Assert.That(
            await FindAsync(new ActivityQuery { Activity = "order", From = At(4) }, cancellationToken),
            Has.Count.EqualTo(6),
            "two began then, four ended"
        );
        Assert.That(await _store.CountOpenAsync("order", At(3), cancellationToken), Is.EqualTo(2));
        Assert.That(await FindAsync(new ActivityQuery { Activity = "other" }, cancellationToken), Is.Empty);
    }

    [Test]
    public async Task What_nothing_was_heard_of_since_is_let_go_of(CancellationToken cancellationToken)
    {
        await _store.RecordAsync(
            [Passed("received", 0, "old"), Passed("received", 100, "new") with { ConversationId = Guid.NewGuid() }],
            cancellationToken
        );

        await _store.RemoveBeforeAsync(At(50), cancellationToken);

        Assert.That((await AllAsync(cancellationToken)).Select(item => item.Key), Is.EqualTo(new[] { "new" }));
    }

    [Test]
    public async Task Text_that_is_no_text_elsewhere_is_kept(CancellationToken cancellationToken)
    {
        await _store.RecordAsync([Passed("received", 0, "a\0b'\"\ud83d\ude00") with { Data = Data("x\0", "y\0") }], cancellationToken);

        Assert.That((await AllAsync(cancellationToken)).Single().Key, Does.StartWith("a").And.EndWith("b'\"\ud83d\ude00"));
    }

    private static DateTimeOffset At(double seconds) => Noon.AddSeconds(seconds);

    private static Dictionary<string, string> Data(string name, string value) => new() { [name] = value };

    private ActivityProgress Passed(string milestone, double seconds, string? key = null) =>
        new()
        {
            Activity = "order",
            ConversationId = _conversation,
            At = At(seconds),
            Key = key,
            Milestone = milestone,
        };

    private Task<List<ActivityItem>> AllAsync(CancellationToken cancellationToken, string activity = "order") =>
        FindAsync(new ActivityQuery { Activity = activity }, cancellationToken);

    private Task<List<ActivityItem>> FindAsync(ActivityQuery query, CancellationToken cancellationToken) =>
        _store.FindAsync(query, cancellationToken).ToListAsync(cancellationToken).AsTask();
}
