using Dapper;
using Esb.Core.Errors;
using Esb.Core.Planning;
using Esb.Storage.Sql;
using Microsoft.Extensions.Logging;
using Npgsql;

namespace Esb.Storage.Postgres;

/// <summary>Migrates the tables to the version of this program: numbered SQL files, each run once, by one host at a time.</summary>
internal sealed partial class PostgresSchema(NpgsqlDataSource database, string schema, ILogger logger)
{
    private const int OldestServer = 15;

    private const string LockWait = "5s";

    // Building an index over very many rows takes time; a build that is given up would begin anew for ever.
    private const int MigrationSeconds = 3600;

    // A constant of this program: hosts that migrate the same database wait for one another.
    private const long MigrationLock = 0x45_53_42_00_01;

    private static readonly IReadOnlyList<SqlMigration> Migrations = SqlMigration.Of("postgres");

    /// <exception cref="EsbException"><c>ESB-STORE-VERSION</c>: the server is too old, or the tables belong to a later version.</exception>
    public async Task MigrateAsync(CancellationToken cancellationToken)
    {
        await using var connection = await database.OpenConnectionAsync(cancellationToken);
        if (connection.PostgreSqlVersion.Major < OldestServer)
            throw Wrong($"PostgreSQL {connection.PostgreSqlVersion} is too old; {OldestServer} or later is needed.");
        if (await IsCurrentAsync(connection, cancellationToken))
            return; // sufficient for a role that may not create tables

        await using var transaction = await connection.BeginTransactionAsync(cancellationToken);
        await RunAsync($"select pg_advisory_xact_lock({MigrationLock})");
        // A session that waits for a table blocks all later ones, such as the other hosts behind a backup.
        await RunAsync($"set local lock_timeout = '{LockWait}'");
        await RunAsync($"create schema if not exists \"{schema}\"");
        await RunAsync(
            "create table if not exists schema_version (number integer primary key, name text not null, applied_at timestamptz not "
                + "null default now())"
        );
        var applied = await ReadVersionsAsync(connection, cancellationToken);
        RefuseLater(applied);
        foreach (var pending in Migrations.Where(migration => !applied.Contains(migration.Number)))
        {
            await RunAsync(pending.Sql, seconds: MigrationSeconds);
            await RunAsync("insert into schema_version (number, name) values (@Number, @Name)", new { pending.Number, pending.Name });
            LogMigrated(pending.Name, schema);
        }

        await transaction.CommitAsync(cancellationToken);

        Task<int> RunAsync(string sql, object? parameters = null, int? seconds = null) =>
            connection.ExecuteAsync(new CommandDefinition(sql, parameters, commandTimeout: seconds, cancellationToken: cancellationToken));
    }

    /// <summary>Assigns the schema to a configuration, unless another owns it; call after <see cref="MigrateAsync"/>.</summary>
    /// <returns>The owner.</returns>
    public async Task<string> OwnAsync(string configuration, CancellationToken cancellationToken)
    {
        if (await FindOwnerAsync(cancellationToken) is { } known)
            return known; // sufficient for a role that may only use the tables
        await using var claim = database.CreateCommand("insert into store_owner (name) values ($1) on conflict do nothing");
        claim.Parameters.AddWithValue(configuration);
        await claim.ExecuteNonQueryAsync(cancellationToken);
        return await FindOwnerAsync(cancellationToken) ?? configuration;
    }

    /// <summary>The configuration that owns the schema; null if none has taken it yet.</summary>
    public async Task<string?> FindOwnerAsync(CancellationToken cancellationToken)
    {
        await using var ask = database.CreateCommand("select name from store_owner");
        return (string?)await ask.ExecuteScalarAsync(cancellationToken);
    }

    /// <summary>Checks the tables for read-only use; changes nothing.</summary>
    /// <param name="takesEarlier">True to accept those of an earlier version.</param>
    /// <param name="cancellationToken">Cancels the operation.</param>
    /// <exception cref="EsbException"><c>ESB-STORE-VERSION</c>: the tables belong to another version, or do not exist.</exception>
    public async Task CheckAsync(bool takesEarlier, CancellationToken cancellationToken)
    {
        await using var connection = await database.OpenConnectionAsync(cancellationToken);
        try
        {
            var applied = await ReadVersionsAsync(connection, cancellationToken);
            RefuseLater(applied);
            if (applied.Count < Migrations.Count && !takesEarlier)
                throw Wrong($"The tables in schema '{schema}' are of an earlier version; start a host of this version once.");
        }
        catch (PostgresException ex) when (ex.SqlState == PostgresErrorCodes.UndefinedTable)
        {
            throw Wrong($"There are no tables in schema '{schema}' yet; start a host once.");
        }
    }

    /// <summary>The changes that <see cref="MigrateAsync"/> would make.</summary>
    /// <exception cref="EsbException"><c>ESB-STORE-VERSION</c>.</exception>
    public async Task<IReadOnlyList<PlannedChange>> PlanAsync(CancellationToken cancellationToken)
    {
        await using var connection = await database.OpenConnectionAsync(cancellationToken);
        var table = await connection.ExecuteScalarAsync<string?>(
            new CommandDefinition(
                "select to_regclass(@name)::text",
                new { name = $"\"{schema}\".schema_version" },
                cancellationToken: cancellationToken
            )
        );
        var applied = table is null ? [] : await ReadVersionsAsync(connection, cancellationToken);
        RefuseLater(applied);
        var pending = Migrations.Where(migration => !applied.Contains(migration.Number)).Select(migration => migration.Name).ToList();
        if (applied.Count == 0)
            return [new PlannedChange(ChangeKind.Create, $"schema {schema}", $"{pending.Count} migrations, up to {pending[^1]}")];
        return pending.Count == 0
            ? [new PlannedChange(ChangeKind.Keep, $"schema {schema}", $"version {applied.Max()}")]
            : [.. pending.Select(name => new PlannedChange(ChangeKind.Change, $"schema {schema}", $"migration {name}"))];
    }

    private static async Task<bool> IsCurrentAsync(NpgsqlConnection connection, CancellationToken cancellationToken)
    {
        var isThere = await connection.ExecuteScalarAsync<bool>(
            new CommandDefinition("select to_regclass('schema_version') is not null", cancellationToken: cancellationToken)
        );
        return isThere
            && (await ReadVersionsAsync(connection, cancellationToken)).SetEquals(Migrations.Select(migration => migration.Number));
    }

    private static async Task<HashSet<int>> ReadVersionsAsync(NpgsqlConnection connection, CancellationToken cancellationToken) =>
        [
            .. await connection.QueryAsync<int>(
                new CommandDefinition("select number from schema_version", cancellationToken: cancellationToken)
            ),
        ];

    private void RefuseLater(HashSet<int> applied)
    {
        if (applied.Count > 0 && applied.Max() > Migrations[^1].Number)
            throw Wrong(
                $"The tables in schema '{schema}' have version {applied.Max()}; this program knows them up to version "
                    + $"{Migrations[^1].Number}."
            );
    }

    private static EsbException Wrong(string message) => new("ESB-STORE-VERSION", message, FaultKind.Internal);

    [LoggerMessage(EventId = 4530, Level = LogLevel.Information, Message = "applied migration {Migration} to schema {Schema}")]
    private partial void LogMigrated(string migration, string schema);
}
