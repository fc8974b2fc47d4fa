using Esb.IntegrationTests.EndToEnd.Hosts;
using Npgsql;

namespace Esb.IntegrationTests.EndToEnd.Operating;

/// <summary>Marks of a database that nobody else uses: crossed and left again.</summary>
[CancelAfter(180_000), Category("Thorough")]
public sealed class DatabaseMarkTests : MarkFixture
{
    private protected override Task<ServerSections> StartServersAsync() => ServerSections.StartAsync();

    [Test, Order(1)]
    public async Task Waits_for_locks_and_long_transactions_in_the_database_are_told(CancellationToken cancellationToken)
    {
        await using var source = NpgsqlDataSource.Create(Servers.Postgres);
        await using (var command = source.CreateCommand("create table if not exists contended (id int)"))
            await command.ExecuteNonQueryAsync(cancellationToken);
        await using var holding = await source.OpenConnectionAsync(cancellationToken);
        await using var waiting = await source.OpenConnectionAsync(cancellationToken);
        await using var transaction = await holding.BeginTransactionAsync(cancellationToken);
        await ExecuteAsync(holding, "lock table contended", cancellationToken);
        var blocked = ExecuteAsync(waiting, "lock table contended", cancellationToken, "begin");
        await AwaitAsync("lockWait", isCrossed: true, cancellationToken);
        await AwaitAsync("transaction", isCrossed: true, cancellationToken);
        await transaction.RollbackAsync(cancellationToken);
        await blocked;
        await ExecuteAsync(waiting, "rollback", cancellationToken);
        await AwaitAsync("lockWait", isCrossed: false, cancellationToken);
        await AwaitAsync("transaction", isCrossed: false, cancellationToken);

        Assert.That((await MarkAsync("deadRows", cancellationToken)).GetProperty("isCrossed").GetBoolean(), Is.False);
    }

    [Test, Order(2)]
    public async Task Dead_rows_and_the_size_of_the_database_are_told(CancellationToken cancellationToken)
    {
        await using var source = NpgsqlDataSource.Create(Servers.Postgres);
        await using var connection = await source.OpenConnectionAsync(cancellationToken);
        await ExecuteAsync(
            connection,
            $"create table {Servers.Name}.heap with (autovacuum_enabled = false) as select generate_series(1, 60000) as id; "
                + $"delete from {Servers.Name}.heap where id > 10000",
            cancellationToken
        );
        await AwaitAsync("deadRows", isCrossed: true, cancellationToken);
        await AwaitAsync("databaseSize", isCrossed: true, cancellationToken);
        var size = (await MarkAsync("databaseSize", cancellationToken)).GetProperty("value").GetDouble();
        await ExecuteAsync(connection, $"vacuum {Servers.Name}.heap", cancellationToken);
        await AwaitAsync("deadRows", isCrossed: false, cancellationToken);
        await using var command = new NpgsqlCommand("select pg_database_size(current_database())", connection);
        var known = (long)(await command.ExecuteScalarAsync(cancellationToken))! / (double)(1 << 20);

        Assert.That(size, Is.EqualTo(known).Within(known / 2), "in MiB");
    }

    private static async Task ExecuteAsync(
        NpgsqlConnection connection,
        string sql,
        CancellationToken cancellationToken,
        string? before = null
    )
    {
        await using var command = new NpgsqlCommand(before is null ? sql : $"{before}; {sql}", connection);
        await command.ExecuteNonQueryAsync(cancellationToken);
    }
}
