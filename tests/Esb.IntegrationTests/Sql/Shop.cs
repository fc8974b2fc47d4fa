using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Expressions;
using Esb.Core.Storage;
using Esb.Endpoints.Sql;
using Esb.Endpoints.Sql.Batches;
using Esb.Tests.Endpoints.Contracts;
using Npgsql;

namespace Esb.IntegrationTests.Sql;

/// <summary>A schema of its own in the test database, with tables, that goes when it is disposed; and endpoints on it.</summary>
internal sealed class Shop : IAsyncDisposable
{
    public const int MaxBodyBytes = 64 * 1024;

    private readonly string _schema = $"esb_test_{Guid.NewGuid():N}";
    private readonly NpgsqlDataSource _source;
    private readonly List<Database> _databases = [];

    private Shop(string server)
    {
        ConnectionString = new NpgsqlConnectionStringBuilder(server) { SearchPath = _schema }.ConnectionString;
        _source = NpgsqlDataSource.Create(ConnectionString);
    }

    public string ConnectionString { get; }

    public static Task<Shop> CreateAsync() => CreateAsync(Servers.Postgres);

    /// <summary>Creates it at another server.</summary>
    public static async Task<Shop> CreateAsync(string server)
    {
        var shop = new Shop(server);
        await shop.ExecuteAsync(
            $"""
            create schema {shop._schema};
            create table orders (id uuid primary key, body text not null);
            create table customers (id int primary key, name varchar(10) not null, country text, since timestamptz, points numeric(6, 2) check (points >= 0), details jsonb);
            """
        );
        return shop;
    }

    public async Task ExecuteAsync(string sql)
    {
        await using var command = _source.CreateCommand(sql);
        await command.ExecuteNonQueryAsync();
    }

    public async Task<List<T>> ReadAsync<T>(string sql, CancellationToken cancellationToken = default)
    {
        await using var command = _source.CreateCommand(sql);
        await using var reader = await command.ExecuteReaderAsync(cancellationToken);
        var values = new List<T>();
        while (await reader.ReadAsync(cancellationToken))
            values.Add(reader.GetFieldValue<T>(0));
        return values;
    }

    /// <summary>Lets go of connections to a server that has been killed.</summary>
    public void ForgetConnections() => _source.Clear();

    /// <summary>Keeps everybody from a table until the result is disposed.</summary>
    public async Task<IAsyncDisposable> LockAsync(string table, CancellationToken cancellationToken)
    {
        var connection = await _source.OpenConnectionAsync(cancellationToken);
        await using var command = connection.CreateCommand();
        command.CommandText = $"begin; lock table {table} in access exclusive mode";
        await command.ExecuteNonQueryAsync(cancellationToken);
        return connection; // which is rolled back when it goes back to its pool
    }

    /// <summary>A pool of connections to the database, or to another.</summary>
    public Database Open(int maxPoolSize = 8, string? connection = null)
    {
        var provider = new NpgsqlProvider();
        var database = new Database(
            "shop",
            provider,
            provider.Open(new ConnectionConfig { Connection = connection ?? ConnectionString }, maxPoolSize),
            maxPoolSize
        );
        _databases.Add(database);
        return database;
    }

    /// <summary>The name of the configuration that its endpoints belong to.</summary>
    public const string Bus = "shop";

    /// <summary>An instance of an endpoint; its parameters are members of the JSON body of the same name, unless told otherwise.</summary>
    public IOutboundEndpoint Endpoint(
        string? query = null,
        string? execute = null,
        Database? database = null,
        string? procedure = null,
        Func<SqlOutboundConfig, SqlOutboundConfig>? change = null
    )
    {
        var config = new SqlOutboundConfig
        {
            Name = "db",
            Path = "endpoints.db",
            Connection = "shop",
            Query = query,
            Execute = execute,
            Procedure = procedure,
        };
        config = config with
        {
            Parameters = SqlText
                .Parse(query ?? execute ?? "")
                .Parameters.ToDictionary(name => name, name => new SqlParameterConfig { Jsonpath = $"$.{name}" }),
        };
        config = change?.Invoke(config) ?? config;
        var errors = new ConfigErrors();
        var plan = SqlCommandPlan.Compile(config, new PlainExpressions(), MaxBodyBytes, errors);
        Assert.That(errors.All, Is.Empty);
        database ??= Open();
        var batcher = config.Batch is { } batch
            ? new MessageBatcher(batch, batch.Size, new SqlBatch(config, plan!.Text, plan.Types, database).RunAsync, TimeProvider.System)
            : null;
        return new SqlOutboundEndpoint(config, plan!, database, Bus, MaxBodyBytes, TimeProvider.System, batcher);
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var database in _databases)
            await database.DisposeAsync();
        await ExecuteAsync($"drop schema if exists {_schema} cascade");
        await _source.DisposeAsync();
    }
}
