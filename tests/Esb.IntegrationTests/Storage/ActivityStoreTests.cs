using Esb.Core.Activities;
using Esb.Storage;
using NUnit.Framework;

namespace Esb.IntegrationTests.Storage;

public sealed class FileActivityStoreTests : ActivityStoreContract
{
    private TestFolder _folder = null!;

    private protected override async Task<IStore> OpenAsync() => await (_folder = new TestFolder()).OpenAsync();

    private protected override async Task<IStore> ReopenAsync() => await _folder.ReopenAsync();

    protected override Task CloseAsync() => _folder.CloseAsync();
}

public sealed class PostgresActivityStoreTests : ActivityStoreContract
{
    private TestSchema _schema = null!;

    private protected override async Task<IStore> OpenAsync() => (_schema = await TestSchema.StartAsync()).Store;

    private protected override async Task<IStore> ReopenAsync() => await _schema.ReopenAsync();

    protected override Task CloseAsync() => _schema.DisposeAsync().AsTask();

    [Test]
    public async Task Hosts_that_know_parts_of_the_same_items_come_to_the_whole(CancellationToken cancellationToken)
    {
        var folder = Directory.CreateTempSubdirectory("esb-");
        var other = _schema.Open(folder.FullName);
        await other.StartAsync(cancellationToken);
        var conversations = Enumerable.Range(0, 100).Select(_ => Guid.NewGuid()).ToList();
        var store = _schema.First.Activities;

        await Task.WhenAll(conversations.SelectMany((conversation, number) => new[]
        {
            store.RecordAsync([Passed(conversation, "received", 0)], cancellationToken),
            other.Activities.RecordAsync([Passed(conversation, "priced", 1) with { Key = $"{number}" }], cancellationToken),
            (number % 2 == 0 ? store : other.Activities).RecordAsync([Passed(conversation, "delivered", 2) with { Ends = true }], cancellationToken),
        }));

        var items = await store.FindAsync(new ActivityQuery { Activity = "order" }, cancellationToken).ToListAsync(cancellationToken);
        Assert.That(items, Has.Count.EqualTo(100));
        Assert.That(items.Select(item => item.Milestones.Count), Is.All.EqualTo(3));
    }

    private static ActivityProgress Passed(Guid conversation, string milestone, int seconds) =>
        new() { Activity = "order", ConversationId = conversation, At = new DateTimeOffset(2026, 3, 1, 12, 0, seconds, TimeSpan.Zero), Milestone = milestone };
}
