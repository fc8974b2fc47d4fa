using Npgsql;

namespace Esb.IntegrationTests.Transactions;

/// <summary>A database of a test's own, and a user who may do nothing in it but what its tables grant.</summary>
internal sealed class StrictDatabase : IAsyncDisposable
{
    private readonly string _name = $"esb_strict_{Guid.NewGuid():N}";

    private StrictDatabase() => User = $"user_{_name}";

    public string User { get; }

    public string OwnerConnection =>
        new NpgsqlConnectionStringBuilder(Servers.Postgres) { Database = _name, Pooling = false }.ConnectionString;

    public string UserConnection =>
        new NpgsqlConnectionStringBuilder(OwnerConnection) { Username = User, Password = "strict" }.ConnectionString;

    public static async Task<StrictDatabase> CreateAsync()
    {
        var database = new StrictDatabase();
        await ExecuteAsync(Servers.Postgres, $"create database {database._name}");
        await ExecuteAsync(Servers.Postgres, $"create role {database.User} login password 'strict'");
        return database;
    }

    /// <summary>As the owner.</summary>
    public Task ExecuteAsync(string sql) => ExecuteAsync(OwnerConnection, sql);

    public async Task<List<string>> ReadPartitionsAsync()
    {
        await using var source = NpgsqlDataSource.Create(OwnerConnection);
        await using var command = source.CreateCommand(
            "select relname::text from pg_inherits join pg_class on pg_class.oid = inhrelid where inhparent in "
                + "('esb.endpoint_inbox'::regclass, 'esb.transaction_outbox'::regclass)"
        );
        await using var reader = await command.ExecuteReaderAsync();
        var names = new List<string>();
        while (await reader.ReadAsync())
            names.Add(reader.GetString(0));
        return names;
    }

    public async ValueTask DisposeAsync()
    {
        await ExecuteAsync(Servers.Postgres, $"drop database {_name} with (force)");
        await ExecuteAsync(Servers.Postgres, $"drop role {User}");
    }

    private static async Task ExecuteAsync(string connection, string sql)
    {
        await using var source = NpgsqlDataSource.Create(connection);
        await using var command = source.CreateCommand(sql);
        command.CommandTimeout = 0; // a database comes and goes with a checkpoint, for which a busy disk takes its time
        await command.ExecuteNonQueryAsync();
    }
}
