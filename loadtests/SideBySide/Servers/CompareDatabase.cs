using Npgsql;

namespace SideBySide.Servers;

/// <summary>A database of its own for a run, so that one that was given to us keeps nothing of it.</summary>
internal sealed class CompareDatabase : IAsyncDisposable
{
    private readonly string _server;
    private readonly string _name;

    private CompareDatabase(string server, string name) => (_server, _name) = (server, name);

    /// <summary>As Npgsql wants it.</summary>
    public string Connection => new NpgsqlConnectionStringBuilder(_server) { Database = _name }.ConnectionString;

    public static async Task<CompareDatabase> CreateAsync(Surroundings surroundings, string server, CancellationToken cancellationToken)
    {
        var database = new CompareDatabase(server, $"esb_compare_{Environment.ProcessId}");
        await ExecuteAsync(server, $"create database {database._name}", cancellationToken);
        var tables = await File.ReadAllTextAsync(surroundings.Find("loadtests/compare.d/topics/tables.sql"), cancellationToken);
        await ExecuteAsync(database.Connection, tables, cancellationToken);
        return database;
    }

    public async ValueTask DisposeAsync() => await ExecuteAsync(_server, $"drop database {_name} with (force)", CancellationToken.None);

    private static async Task ExecuteAsync(string connection, string sql, CancellationToken cancellationToken)
    {
        await using var source = NpgsqlDataSource.Create(new NpgsqlConnectionStringBuilder(connection) { Pooling = false });
        await using var command = source.CreateCommand(sql);
        await command.ExecuteNonQueryAsync(cancellationToken);
    }
}
