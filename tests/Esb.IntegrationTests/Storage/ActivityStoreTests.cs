using Esb.Core.Activities;
using Esb.Core.Errors;
using Esb.IntegrationTests.Topics;
using Esb.IntegrationTests.Transactions;
using Esb.Storage;
using Npgsql;
using NUnit.Framework;

namespace Esb.IntegrationTests.Storage;

public sealed class FileActivityStoreTests : ActivityStoreContract
{
    private TestFolder _folder = null!;

    private protected override async Task<Store> OpenAsync() => await (_folder = new TestFolder()).OpenAsync();

    private protected override async Task<Store> ReopenAsync() => await _folder.ReopenAsync();

    protected override Task CloseAsync() => _folder.CloseAsync();
}

public sealed class PostgresActivityStoreTests : ActivityStoreContract
{
    private TestSchema _schema = null!;

    private protected override async Task<Store> OpenAsync() => (_schema = await TestSchema.ShareAsync()).Store;

    private protected override async Task<Store> ReopenAsync() => await _schema.ReopenAsync();

    protected override Task CloseAsync() => _schema.DisposeAsync().AsTask();

    [Test]
    public async Task Hosts_that_know_parts_of_the_same_items_come_to_the_whole(CancellationToken cancellationToken)
    {
        var folder = Directory.CreateTempSubdirectory("esb-");
        var other = _schema.Open(folder.FullName);
        await other.StartAsync(cancellationToken);
        var conversations = Enumerable.Range(0, 100).Select(_ => Guid.NewGuid()).ToList();
        var store = _schema.First.Activities;

        await Task.WhenAll(
            conversations.SelectMany(
                (conversation, number) =>
                    new[]
                    {
                        store.RecordAsync([Passed(conversation, "received", 0)], cancellationToken),
                        other.Activities.RecordAsync([Passed(conversation, "priced", 1) with { Key = $"{number}" }], cancellationToken),
                        (number % 2 == 0 ? store : other.Activities).RecordAsync(
                            [Passed(conversation, "delivered", 2) with { Ends = true }],
                            cancellationToken
                        ),
                    }
            )
        );

        var items = await store.FindAsync(new ActivityQuery { Activity = "order" }, cancellationToken).ToListAsync(cancellationToken);
        Assert.That(items, Has.Count.EqualTo(100));
        Assert.That(items.Select(item => item.Milestones.Count), Is.All.EqualTo(3));
    }

    [Test]
    public async Task Only_what_says_something_new_is_written(CancellationToken cancellationToken)
    {
        var conversation = Guid.NewGuid();
        ActivityProgress[] priced =
        [
            .. Enumerable.Range(0, 50).Select(number => Passed(conversation, "priced", 1) with { Key = $"A-{number}" }),
        ];
        await _schema.First.Activities.RecordAsync(priced, cancellationToken);
        var before = await VersionsAsync();

        await _schema.First.Activities.RecordAsync(
            [.. priced, Passed(conversation, "delivered", 2) with { Key = "A-7" }],
            cancellationToken
        );

        Assert.That((await VersionsAsync()).Except(before).Select(version => version.Split(' ')[0]), Is.EqualTo(new[] { "k:A-7" }));
    }

    [Test, Category("Thorough")]
    public async Task Host_that_falls_silent_in_the_middle_holds_up_the_others_for_seconds_only(CancellationToken cancellationToken)
    {
        var direct = new NpgsqlConnectionStringBuilder(_schema.Config.Connection);
        await using var wire = CutWire.To(direct.Port);
        var connection = new NpgsqlConnectionStringBuilder(direct.ConnectionString)
        {
            Host = "127.0.0.1",
            Port = wire.Port,
            SslMode = SslMode.Disable,
            MaxAutoPrepare = 0,
            CommandTimeout = 100,
        }.ConnectionString;
        var silent = _schema.Open(Directory.CreateTempSubdirectory("esb-").FullName, connection);
        await silent.StartAsync(cancellationToken);
        var held = wire.HoldAt("insert into activity_item", behind: "activity_link", isDelivered: true);
        var unheard = silent.Activities.RecordAsync([Passed(Guid.NewGuid(), "received", 0) with { Key = "A-1" }], cancellationToken);
        await held.WaitAsync(cancellationToken);

        await Eventually.HoldsAsync(
            () => TryRecordAsync(Passed(Guid.NewGuid(), "received", 0) with { Key = "A-2" }, cancellationToken),
            cancellationToken
        );

        Assert.ThrowsAsync<EsbException>(() => unheard);
        var items = await _schema
            .First.Activities.FindAsync(new ActivityQuery { Activity = "order" }, cancellationToken)
            .ToListAsync(cancellationToken);
        Assert.That(items.Select(item => item.Key), Is.EqualTo(new[] { "A-2" }));
    }

    private async Task<bool> TryRecordAsync(ActivityProgress progress, CancellationToken cancellationToken)
    {
        try
        {
            await _schema.First.Activities.RecordAsync([progress], cancellationToken);
            return true;
        }
        catch (EsbException ex) when (ex.IsTransient)
        {
            return false;
        }
    }

    private Task<IReadOnlyList<string>> VersionsAsync() => _schema.QueryAsync<string>("select id || ' ' || xmin from activity_item");

    private static ActivityProgress Passed(Guid conversation, string milestone, int seconds) =>
        new()
        {
            Activity = "order",
            ConversationId = conversation,
            At = new DateTimeOffset(2026, 3, 1, 12, 0, seconds, TimeSpan.Zero),
            Milestone = milestone,
        };
}
