using System.Text.Json.Nodes;
using Dapper;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Npgsql;

namespace Esb.IntegrationTests.Faults.Sinks;

/// <summary>A table that a sql-outbound endpoint inserts into; its rows are its ledger.</summary>
internal sealed class SqlSink : ISink
{
    private readonly NpgsqlDataSource _database;

    private SqlSink(string endpoint, NpgsqlDataSource database, SinkPromises promises, JsonObject configuration)
    {
        (Endpoint, _database, Promises, Configuration) = (endpoint, database, promises, configuration);
    }

    public string Endpoint { get; }

    public SinkPromises Promises { get; }

    public JsonObject Configuration { get; }

    /// <param name="endpoint">The name of the endpoint, and of the table.</param>
    /// <param name="database">Where the table is made.</param>
    /// <param name="promises">What is promised of it; one effect means the setting <c>once</c>, as the table itself takes every
    /// copy.</param>
    /// <param name="settings">Further settings of the endpoint.</param>
    /// <param name="idHeader">Where the sender's id is found; the ending of a file's name is no part of it.</param>
    public static async Task<SqlSink> CreateAsync(
        string endpoint,
        NpgsqlDataSource database,
        SinkPromises promises,
        JsonObject settings,
        string idHeader = FaultHeaders.Id
    )
    {
        await using var connection = await database.OpenConnectionAsync();
        await connection.ExecuteAsync(
            $"""
            create table {endpoint} (
              number bigint generated always as identity primary key, message_id uuid not null,
              id text not null, hash text not null, mark text, own text, applied_at timestamptz not null default clock_timestamp())
            """
        );
        settings["type"] = "sql-outbound";
        settings["subscribe"] ??= new JsonArray("work.#");
        settings["connection"] = "sink";
        settings["once"] = promises.HasFlag(SinkPromises.Once);
        settings["execute"] =
            $"insert into {endpoint} (message_id, id, hash) values (@message, @id, encode(sha256(convert_to(@body, 'UTF8')), 'hex'))";
        settings["parameters"] = new JsonObject
        {
            ["message"] = new JsonObject { ["message"] = "id" },
            ["id"] = new JsonObject { ["header"] = idHeader },
            ["body"] = new JsonObject { ["message"] = "body" },
        };
        return new SqlSink(endpoint, database, promises, settings);
    }

    public async Task<IReadOnlyList<SinkEntry>> ReadAsync(CancellationToken cancellationToken)
    {
        var rows = await _database.QueryAsync<(string Id, string Hash, DateTime At)>(
            $"select id, hash, applied_at from {Endpoint} order by number",
            null,
            cancellationToken
        );
        return [.. rows.Select(row => new SinkEntry(Path.GetFileNameWithoutExtension(row.Id), row.Hash, row.At))];
    }

    /// <summary>Has each row keep the mark of the revision that took the message in, and the parameter <c>own</c> of the one that delivered
    /// it.</summary>
    public SqlSink Marked()
    {
        Configuration["execute"] =
            $"insert into {Endpoint} (message_id, id, hash, mark, own) values (@message, @id, "
            + "encode(sha256(convert_to(@body, 'UTF8')), 'hex'), @mark, @own)";
        Configuration["parameters"]!["mark"] = new JsonObject { ["header"] = FaultHeaders.Mark };
        Configuration["parameters"]!["own"] = new JsonObject { ["value"] = "" };
        return this;
    }

    /// <summary>How many rows there are, without reading them.</summary>
    public async Task<long> CountAsync(CancellationToken cancellationToken) =>
        (await _database.QueryAsync<long>($"select count(*) from {Endpoint}", null, cancellationToken))[0];

    /// <summary>What each row of a sink that is <see cref="Marked"/> keeps.</summary>
    public Task<IReadOnlyList<(string Id, string Mark, string Own, DateTime At)>> ReadMarksAsync(CancellationToken cancellationToken) =>
        _database.QueryAsync<(string, string, string, DateTime)>(
            $"select id, coalesce(mark, ''), coalesce(own, ''), applied_at from {Endpoint} order by number",
            null,
            cancellationToken
        );

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
