using System.Collections.Concurrent;
using Esb.Core.Errors;
using Esb.Core.Topics;
using Esb.Endpoints.Sql.Outbox;
using Esb.IntegrationTests.Sql;
using Esb.Storage.Encryption;
using Esb.Tests;
using Npgsql;

namespace Esb.IntegrationTests.Transactions;

/// <summary>An outbox on a server that gives rows but takes no changes, as after a failover.</summary>
[Category("Thorough"), TestFixture, CancelAfter(60_000)]
internal sealed class OutboxStandbyTests
{
    private Shop _shop = null!;

    [SetUp]
    public async Task CreateShop() => _shop = await Shop.CreateAsync();

    [TearDown]
    public async Task DropShop() => await _shop.DisposeAsync();

    [Test]
    public async Task Nothing_is_published_that_could_not_be_forgotten(CancellationToken cancellationToken)
    {
        await using var strict = await StrictDatabase.CreateAsync();
        var primary = _shop.Open(connection: strict.OwnerConnection);
        var standby = _shop.Open(
            connection: new NpgsqlConnectionStringBuilder(strict.OwnerConnection)
            {
                Options = "-c default_transaction_read_only=on",
            }.ConnectionString
        );
        var (table, publisher) = (new OutboxTable("a-bus", BodyCipher.None), new Publisher());
        await primary.Tables.EnsureReadyAsync(cancellationToken);
        var message = Some.Message(subject: "orders.new", key: "c-1");
        var lanes = await primary.UseAsync(
            "shop",
            TimeSpan.FromSeconds(10),
            (connection, limited) => table.AddAsync(connection, [new OutgoingMessage(message, "door", null, default)], limited),
            cancellationToken
        );

        var failure = Assert.ThrowsAsync<EndpointException>(() =>
            new OutboxPass(lanes.Single(), table, standby, publisher).RunAsync(new OutboxHolds(), cancellationToken)
        )!;
        var before = publisher.Published.Count;
        var result = await new OutboxPass(lanes.Single(), table, primary, publisher).RunAsync(new OutboxHolds(), cancellationToken);
        var again = await new OutboxPass(lanes.Single(), table, primary, publisher).RunAsync(new OutboxHolds(), cancellationToken);

        Assert.That((failure.Code, failure.IsOutage, before), Is.EqualTo(("ESB-SQL-CONNECTION", true, 0)));
        Assert.That((result, again), Is.EqualTo((OutboxPassResult.Published, OutboxPassResult.Empty)));
        Assert.That(publisher.Published, Is.EqualTo(new[] { message.Id }));
    }

    private sealed class Publisher : IOutgoingPublisher
    {
        public ConcurrentQueue<Guid> Published { get; } = new();

        public Task<Task> PublishAsync(OutgoingMessage outgoing, CancellationToken cancellationToken)
        {
            Published.Enqueue(outgoing.Message.Id);
            return Task.FromResult(Task.CompletedTask);
        }
    }
}
