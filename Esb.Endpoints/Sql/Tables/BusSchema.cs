using System.Globalization;
using Esb.Core.Errors;
using Npgsql;

namespace Esb.Endpoints.Sql.Tables;

/// <summary>Migrates the bus's tables to the version of this program: numbered SQL files, each run once, by one host at a time. Used by one
/// caller.</summary>
internal sealed class BusSchema(NpgsqlConnection connection)
{
    private const int OldestServer = 13; // the oldest supported release when this was written

    // A constant of the bus: hosts that change the same database wait for one another.
    private const long SchemaLock = 0x45_53_42_00_03;

    private const string MayUse = """
        has_table_privilege('esb.endpoint_inbox', 'select') and has_table_privilege('esb.endpoint_inbox', 'insert')
        and has_table_privilege('esb.inbox_owner', 'select') and has_table_privilege('esb.inbox_owner', 'insert') and
          has_table_privilege('esb.transaction_outbox', 'select')
        and has_table_privilege('esb.transaction_outbox', 'insert') and has_table_privilege('esb.transaction_outbox', 'delete')
        and has_table_privilege('esb.endpoint_fence', 'select') and has_table_privilege('esb.endpoint_fence', 'insert') and
          has_table_privilege('esb.endpoint_fence', 'update')
        and has_table_privilege('esb.transaction_mark', 'select') and has_table_privilege('esb.transaction_mark', 'insert') and
          has_table_privilege('esb.transaction_mark', 'delete')
        and has_table_privilege('esb.transaction_result', 'select') and has_table_privilege('esb.transaction_result', 'insert') and
          has_table_privilege('esb.transaction_result', 'delete')
        """;

    private const string Prefix = "Sql.Tables.";

    private static readonly IReadOnlyList<(int Number, string Name)> Migrations =
    [
        .. typeof(BusSchema)
            .Assembly.GetManifestResourceNames()
            .Where(name => name.StartsWith(Prefix, StringComparison.Ordinal))
            .Order(StringComparer.Ordinal)
            .Select(name => (int.Parse(name.AsSpan(Prefix.Length, 4), CultureInfo.InvariantCulture), name)),
    ];

    /// <exception cref="EndpointException"><c>ESB-SQL-INBOX</c>.</exception>
    public async Task MigrateAsync(CancellationToken cancellationToken)
    {
        if (connection.PostgreSqlVersion.Major < OldestServer)
            throw Refused(
                $"PostgreSQL {connection.PostgreSqlVersion} is too old for once, transaction and singleInstance; {OldestServer} or "
                    + $"later is needed."
            );
        await ChangeAsync(
            async () =>
            {
                // Checked first: "if not exists" requires the right to create even if there is nothing to do.
                if (await AskAsync("to_regnamespace('esb') is null", cancellationToken))
                    await RunAsync("create schema esb", cancellationToken);
                if (await AskAsync("to_regclass('esb.connection_version') is null", cancellationToken))
                    await RunAsync(
                        "create table esb.connection_version (number integer primary key, name text not null, applied_at "
                            + "timestamptz not null default now())",
                        cancellationToken
                    );
                var version = await ReadVersionAsync(cancellationToken);
                if (version > Migrations[^1].Number)
                    throw Refused(
                        $"The tables of once, transaction and singleInstance have version {version}; this program knows them up to "
                            + $"version {Migrations[^1].Number}."
                    );
                foreach (var (number, name) in Migrations.Where(migration => migration.Number > version))
                    await RunAsync(
                        $"{ReadSql(name)}; insert into esb.connection_version (number, name) values ({number}, '{name[Prefix.Length..]}')",
                        cancellationToken
                    );
                await RunAsync("select esb.make_partitions()", cancellationToken);
                if (!await AskAsync(MayUse, cancellationToken))
                    throw Refused(await AdviseAsync(cancellationToken));
            },
            cancellationToken
        );
    }

    /// <summary>Creates the partitions of the coming days, drops old ones, and deletes leftover marks.</summary>
    /// <exception cref="EndpointException"><c>ESB-SQL-INBOX</c>.</exception>
    public async Task KeepAsync(CancellationToken cancellationToken)
    {
        await ChangeAsync(() => RunAsync("select esb.make_partitions()", cancellationToken), cancellationToken);
        await ChangeAsync(() => RunAsync("select esb.drop_partitions()", cancellationToken), cancellationToken);
        await ChangeAsync(
            () => RunAsync("delete from esb.transaction_mark where marked_at < now() - interval '1 day'", cancellationToken),
            cancellationToken
        );
        await ChangeAsync(
            () => RunAsync("delete from esb.transaction_result where kept_at < now() - interval '7 days'", cancellationToken),
            cancellationToken
        );
    }

    /// <summary>Waits for the transactions admitted under an older token; none is admitted afterwards.</summary>
    public async Task RaiseFenceAsync(Fence fence, CancellationToken cancellationToken)
    {
        await using var command = new NpgsqlCommand("select esb.raise_fence($1, $2, $3)", connection)
        {
            Parameters =
            {
                new() { Value = fence.Bus },
                new() { Value = fence.Endpoint },
                new() { Value = fence.Token },
            },
        };
        await command.ExecuteNonQueryAsync(cancellationToken);
    }

    // A partition change waits for the users of the table, and all others wait behind it: it is better to give up than to wait long.
    private async Task ChangeAsync(Func<Task> change, CancellationToken cancellationToken)
    {
        try
        {
            await using var transaction = await connection.BeginTransactionAsync(cancellationToken);
            await RunAsync($"select pg_advisory_xact_lock({SchemaLock})", cancellationToken);
            await RunAsync("set local lock_timeout = '2s'", cancellationToken);
            await change();
            await transaction.CommitAsync(cancellationToken);
        }
        catch (PostgresException ex) when (ex.SqlState == PostgresErrorCodes.InsufficientPrivilege)
        {
            throw Refused(await AdviseAsync(cancellationToken), ex);
        }
    }

    private async Task<string> AdviseAsync(CancellationToken cancellationToken)
    {
        await using var command = connection.CreateCommand();
        command.CommandText = """
            select current_user::text, current_database()::text, to_regnamespace('esb') is not null,
              (select pg_get_userbyid(relowner)::text from pg_class join pg_namespace on pg_namespace.oid = relnamespace where nspname =
                'esb' and relname = 'connection_version')
            """;
        await using var reader = await command.ExecuteReaderAsync(cancellationToken);
        await reader.ReadAsync(cancellationToken);
        var user = Quoted(reader.GetString(0));
        var owner = await reader.IsDBNullAsync(3, cancellationToken) ? null : Quoted(reader.GetString(3));
        var remedy =
            owner is not null ? $"grant {owner} to {user};"
            : reader.GetBoolean(2) ? $"grant usage, create on schema esb to {user};"
            : $"create schema esb authorization {user};";
        return $"The user {user} may not make or keep the tables of once, transaction and singleInstance in the database "
            + $"{Quoted(reader.GetString(1))}. Let its owner run there: {remedy}";
    }

    private async Task<int> ReadVersionAsync(CancellationToken cancellationToken)
    {
        await using var command = connection.CreateCommand();
        command.CommandText = "select coalesce(max(number), 0) from esb.connection_version";
        return (int)(await command.ExecuteScalarAsync(cancellationToken))!;
    }

    private async Task<bool> AskAsync(string question, CancellationToken cancellationToken)
    {
        await using var command = connection.CreateCommand();
        command.CommandText = $"select {question}";
        return (bool)(await command.ExecuteScalarAsync(cancellationToken))!;
    }

    private async Task RunAsync(string sql, CancellationToken cancellationToken)
    {
        await using var command = connection.CreateCommand();
        command.CommandText = sql;
        await command.ExecuteNonQueryAsync(cancellationToken);
    }

    private static string ReadSql(string name)
    {
        using var reader = new StreamReader(typeof(BusSchema).Assembly.GetManifestResourceStream(name)!);
        return reader.ReadToEnd();
    }

    private static string Quoted(string name) => $"\"{name.Replace("\"", "\"\"", StringComparison.Ordinal)}\"";

    private EndpointException Refused(string sentence, Exception? cause = null) =>
        new(connection.Database, "ESB-SQL-INBOX", sentence, isTransient: true, cause, FaultKind.Unavailable) { IsOutage = true };
}
