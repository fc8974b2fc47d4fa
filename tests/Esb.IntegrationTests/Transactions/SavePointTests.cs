using System.Data;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Endpoints.Sql;
using Esb.Endpoints.Sql.Outbox;
using Esb.Endpoints.Sql.Transactions;
using Esb.IntegrationTests.Sql;
using Esb.Storage.Encryption;
using Esb.Tests;

namespace Esb.IntegrationTests.Transactions;

/// <summary>What a call that fails undoes of its transaction, where a step has caught the failure.</summary>
[TestFixture, CancelAfter(60_000)]
internal sealed class SavePointTests
{
    private Shop _shop = null!;
    private Database _database = null!;

    [SetUp]
    public async Task CreateShop()
    {
        _shop = await Shop.CreateAsync();
        _database = _shop.Open();
        await _database.Tables.EnsureReadyAsync(CancellationToken.None);
    }

    [TearDown]
    public async Task DropShop()
    {
        await _database.DisposeAsync();
        await _shop.DisposeAsync();
    }

    [Test]
    public async Task Of_many_calls_each_is_undone_by_itself(CancellationToken cancellationToken)
    {
        await using (var transaction = await BeginAsync(cancellationToken))
        {
            for (var id = 1; id <= 7; id++)
            {
                if (id is 3 or 4 or 6)
                    Assert.That(
                        async () => await InsertAsync(transaction, id, points: -1, cancellationToken),
                        Throws.InstanceOf<EndpointException>()
                    );
                else
                    await InsertAsync(transaction, id, points: 1, cancellationToken);
            }

            await transaction.CommitAsync(cancellationToken);
        }

        Assert.That(await _shop.ReadAsync<int>("select id from customers order by id", cancellationToken), Is.EqualTo([1, 2, 5, 7]));
    }

    [Test]
    public async Task Call_that_fails_before_the_database_hears_of_it_does_not_undo_the_one_before(CancellationToken cancellationToken)
    {
        await using (var transaction = await BeginAsync(cancellationToken))
        {
            await InsertAsync(transaction, 1, points: 1, cancellationToken);
            await InsertAsync(transaction, 2, points: 1, cancellationToken);
            Assert.That(
                () =>
                    transaction.UseAsync<int>(
                        "late",
                        TimeSpan.FromSeconds(10),
                        (_, _) => throw new OperationCanceledException(),
                        cancellationToken
                    ),
                Throws.InstanceOf<EndpointException>()
            );

            Assert.That(() => transaction.CommitAsync(cancellationToken), Throws.InstanceOf<EndpointException>());
        }

        Assert.That(await _shop.ReadAsync<int>("select id from customers", cancellationToken), Is.Empty, "all or nothing");
    }

    private async Task<SqlUnitOfWork> BeginAsync(CancellationToken cancellationToken)
    {
        var rented = await _database.RentAsync("shop", TimeSpan.FromSeconds(10), cancellationToken);
        var transaction = await rented.Connection.BeginTransactionAsync(IsolationLevel.ReadCommitted, cancellationToken);
        var mark = await _database.Tables.Marks.SetAsync(rented.Connection, cancellationToken);
        return new SqlUnitOfWork(
            _database,
            rented,
            transaction,
            mark,
            new CommitVerdict(_database, mark, TimeProvider.System),
            new OutboxTable("shop", BodyCipher.None)
        );
    }

    private async Task InsertAsync(SqlUnitOfWork transaction, int id, int points, CancellationToken cancellationToken)
    {
        var endpoint = (ITransactionalEndpoint)
            _shop.Endpoint(execute: "insert into customers (id, name, points) values (@id, 'a', @points)", database: _database);
        await endpoint.SendAsync(Some.Message($$"""{ "id": {{id}}, "points": {{points}} }"""), transaction, cancellationToken);
    }
}
