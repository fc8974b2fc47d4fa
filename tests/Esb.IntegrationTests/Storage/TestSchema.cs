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
    private readonly List<PostgresStore> _stores = [];

    private TestSchema(string connection)
    {
        Config = new PostgresStoreConfig
        {
            Connection = connection,
            Schema = $"esb_{Guid.NewGuid():N}",
            Folder = Directory.CreateTempSubdirectory("esb-").FullName,
        };
    }

    public PostgresStoreConfig Config { get; }

    /// <summary>Where the anchors are, and what signs them.</summary>
    public AuditConfig Evidence => new() { Anchors = Path.Combine(Config.Folder, "anchors"), AnchorKey = "a key of the tests" };

    public PostgresStore Store => _stores[^1];

    public PostgresStore First => _stores[0];

    /// <summary>On the server that the environment names.</summary>
    public static async Task<TestSchema> StartAsync()
    {
        var schema = new TestSchema(
            Environment.GetEnvironmentVariable("ESB_TEST_POSTGRES")
                ?? throw new InvalidOperationException(
                    "No PostgreSQL to test with: eval \"$(tests/servers start)\", or set ESB_TEST_POSTGRES."
                )
        );
        await schema.Open().StartAsync(default);
        return schema;
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
        foreach (var store in _stores)
            await store.DisposeAsync();
        await QueryAsync<int>($"drop schema if exists {Config.Schema} cascade");
        Directory.Delete(Config.Folder, recursive: true);
    }

    private sealed record TableReads(long Scans, long Rows);
}
