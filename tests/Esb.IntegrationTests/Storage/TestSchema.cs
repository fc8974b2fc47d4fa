using System.Collections.Concurrent;
using Dapper;
using Esb.Audit;
using Esb.Storage;
using Esb.Storage.Postgres;
using Microsoft.Extensions.Logging.Abstractions;
using Npgsql;

namespace Esb.IntegrationTests.Storage;

/// <summary>A schema and a spool folder of a test's own, and a store in them; gone when disposed.</summary>
internal sealed class TestSchema : IAsyncDisposable
{
    // To make a schema takes longer than most tests of what is in it.
    private static readonly ConcurrentBag<(string Name, string Shape)> Emptied = [];

    private readonly List<PostgresStore> _stores = [];

    // As it was made; null if no other test is to have it.
    private string? _shape;

    private TestSchema(string connection, string? name = null)
    {
        Config = new PostgresStoreConfig
        {
            Connection = connection,
            Schema = name ?? $"esb_{Guid.NewGuid():N}",
            Folder = Directory.CreateTempSubdirectory("esb-").FullName,
        };
    }

    public PostgresStoreConfig Config { get; }

    /// <summary>Where the anchors are, and what signs them.</summary>
    public AuditConfig Evidence => new() { Anchors = Path.Combine(Config.Folder, "anchors"), AnchorKey = "a key of the tests" };

    public PostgresStore Store => _stores[^1];

    public PostgresStore First => _stores[0];

    private static string Server =>
        Environment.GetEnvironmentVariable("ESB_TEST_POSTGRES")
        ?? throw new InvalidOperationException("No PostgreSQL to test with: eval \"$(tests/servers start)\", or set ESB_TEST_POSTGRES.");

    /// <summary>On the server that the environment names.</summary>
    public static async Task<TestSchema> StartAsync()
    {
        var schema = new TestSchema(Server);
        await schema.Open().StartAsync(default);
        return schema;
    }

    /// <summary>As <see cref="StartAsync"/>, perhaps one that an earlier test has used and is empty again: for tests of a store's
    /// behaviour, not of its tables.</summary>
    public static async Task<TestSchema> ShareAsync()
    {
        if (!Emptied.TryTake(out var used))
        {
            var made = await StartAsync();
            made._shape = await made.ShapeAsync();
            return made;
        }

        var schema = new TestSchema(Server, used.Name) { _shape = used.Shape };
        await schema.Open().StartAsync(default);
        return schema;
    }

    /// <summary>Drops those that no further test wants.</summary>
    public static async Task DropSharedAsync()
    {
        while (Emptied.TryTake(out var used))
            await new TestSchema(Server, used.Name).DisposeAsync();
    }

    /// <summary>On a server of the test's own; not started yet.</summary>
    public static TestSchema On(PrivatePostgres server) => new(server.Connection);

    /// <summary>A further host's store, in the same tables; not started yet.</summary>
    public PostgresStore Open(string? folder = null, string? connection = null)
    {
        var config = Config with { Folder = folder ?? Config.Folder, Connection = connection ?? Config.Connection };
        _stores.Add(new PostgresStore(config, Evidence, TimeProvider.System, NullLogger<PostgresStore>.Instance));
        return Store;
    }

    /// <summary>As after the end of the process.</summary>
    public async Task<PostgresStore> ReopenAsync()
    {
        await Store.DisposeAsync();
        _stores.Clear();
        await Open().StartAsync(default);
        return Store;
    }

    /// <summary>Ends every store, as hosts do that stop.</summary>
    public async Task StopAsync()
    {
        foreach (var store in _stores)
            await store.DisposeAsync();
    }

    /// <summary>Drops what is kept too long at a time to come.</summary>
    public async Task KeepHouseAsync(DateTimeOffset now)
    {
        await using var database = new PostgresDatabase(Config, readOnly: false, TimeProvider.System, NullLogger.Instance);
        await database.EnsureReadyAsync(default);
        await database.MakePartitionsAsync(now, default);
    }

    public async Task<IReadOnlyList<T>> QueryAsync<T>(string sql)
    {
        await using var connection = await ConnectAsync();
        return (await connection.QueryAsync<T>(sql)).AsList();
    }

    /// <summary>Statements that take their time.</summary>
    public async Task RunAsync(string sql)
    {
        await using var connection = await ConnectAsync();
        await connection.ExecuteAsync(sql, commandTimeout: 0);
    }

    // All tests of a server share a pool: a pool of each schema's own would ask for all types of the database first, for 100 ms.
    private async Task<NpgsqlConnection> ConnectAsync()
    {
        var connection = new NpgsqlConnection(Config.Connection);
        await connection.OpenAsync();
        await connection.ExecuteAsync($"set search_path to {Config.Schema}");
        return connection;
    }

    /// <summary>The rows of a table, of it or of its indexes, that some work reads which is done several times.</summary>
    /// <remarks>PostgreSQL reports the statistics of a session with a statement, at most once a second.</remarks>
    public async Task<long> RowsReadAsync(string table, int times, Func<Task> work, CancellationToken cancellationToken)
    {
        var before = await ReadsAsync(table);
        for (var time = 0; time < times; time++)
            await work();
        while (true)
        {
            await Task.Delay(1_100, cancellationToken);
            await work();
            var now = await ReadsAsync(table);
            if (now.Scans >= before.Scans + times)
                return now.Rows - before.Rows;
        }
    }

    private async Task<TableReads> ReadsAsync(string table) =>
        (
            await QueryAsync<TableReads>(
                $"""
                select (seq_scan + idx_scan)::bigint as scans,
                  (seq_tup_read + (select sum(idx_tup_read) from pg_stat_user_indexes i where i.relid = t.relid))::bigint as rows
                from pg_stat_user_tables t where relid = '{table}'::regclass
                """
            )
        ).Single();

    public async ValueTask DisposeAsync()
    {
        await StopAsync();
        Directory.Delete(Config.Folder, recursive: true);
        if (_shape is not null && await ShapeAsync() == _shape)
        {
            await EmptyAsync();
            Emptied.Add((Config.Schema, _shape));
        }
        else
        {
            await QueryAsync<int>($"drop schema if exists {Config.Schema} cascade");
        }
    }

    // Changes with any table, index, column, right or option.
    private async Task<string> ShapeAsync() =>
        (
            await QueryAsync<string>(
                $"""
                select md5(string_agg(
                  concat_ws(' ', relname, relacl, reloptions, relnatts, relchecks, relhastriggers), ',' order by relname))
                from pg_class where relnamespace = '{Config.Schema}'::regnamespace
                """
            )
        ).Single();

    private Task EmptyAsync() =>
        RunAsync(
            """
            do $$
            declare filled text;
            begin
              select string_agg(oid::regclass::text, ', ') into filled from pg_class
                where relnamespace = current_schema()::regnamespace and relkind = 'r' and relname <> 'schema_version'
                  and pg_relation_size(oid) > 0;
              if filled is not null then
                execute 'truncate ' || filled || ' cascade';
              end if;
              perform setval(oid::regclass, 1, false) from pg_class
                where relnamespace = current_schema()::regnamespace and relkind = 'S';
            end $$
            """
        );

    private sealed record TableReads(long Scans, long Rows);
}
