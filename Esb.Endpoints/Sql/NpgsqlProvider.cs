using System.Data.Common;
using System.Net.Sockets;
using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Npgsql;
using NpgsqlTypes;

namespace Esb.Endpoints.Sql;

/// <summary>PostgreSQL, through Npgsql.</summary>
internal sealed class NpgsqlProvider : IDatabaseProvider
{
    private const int PreparedStatements = 64;

    public string Name => "npgsql";

    public bool HasBusTables => true;

    public bool IsBatchAtomic => true;

    public bool FindsRefused => true;

    public bool CountsEach => true;

    public void Check(ConnectionConfig connection, ConfigErrors errors)
    {
        try
        {
            var parts = new NpgsqlConnectionStringBuilder(connection.Connection);
            if (string.IsNullOrEmpty(parts.Host))
                errors.Add("ESB-CFG-VALUE", connection, "connection", "expected a connection string with a Host");
            else if (!LoopbackHosts.AreAll(parts.Host))
                CheckRemote(parts, connection, errors);
        }
        catch (Exception ex) when (ex is ArgumentException or FormatException)
        {
            errors.Add(
                "ESB-CFG-VALUE",
                connection,
                "connection",
                "expected a connection string of Npgsql, such as \"Host=db;Database=shop;Username=esb\""
            );
        }
    }

    private static void CheckRemote(NpgsqlConnectionStringBuilder parts, ConnectionConfig connection, ConfigErrors errors)
    {
        if (parts is { Username: "postgres", Password: "postgres" })
            errors.Add(
                "ESB-CFG-DEFAULTCRED",
                connection,
                "connection",
                "the default user and password are refused for a database on another machine"
            );
        if (parts.SslMode is not (SslMode.VerifyCA or SslMode.VerifyFull))
            errors.RefuseInsecure(connection, "connection", connection.AllowInsecure, "SSL Mode=VerifyFull");
    }

    public DbDataSource Open(ConnectionConfig connection, int maxPoolSize)
    {
        var parts = new NpgsqlConnectionStringBuilder(connection.Connection)
        {
            MaxPoolSize = maxPoolSize,
            Multiplexing = false,
            Enlist = false,
        };
        parts.MinPoolSize = Math.Min(parts.MinPoolSize, maxPoolSize);
        parts.ApplicationName ??= "esb";
        if (!parts.ShouldSerialize("Max Auto Prepare"))
            parts.MaxAutoPrepare = PreparedStatements; // 0 stays 0, as some poolers need it
        if (!parts.ShouldSerialize("No Reset On Close"))
            parts.NoResetOnClose = true; // a quarter more queries; an open transaction is still rolled back
        return NpgsqlDataSource.Create(parts);
    }

    public void Close(DbDataSource pool) => ((NpgsqlDataSource)pool).Clear();

    public DbBatch CreateBatch(DbConnection connection)
    {
        var batch = ((NpgsqlConnection)connection).CreateBatch();
        batch.Timeout = 0; // the endpoint's timeout cancels
        return batch;
    }

    public void AddClaim(DbBatch batch, MessageClaim claim) =>
        ((NpgsqlBatch)batch).BatchCommands.Add(
            new NpgsqlBatchCommand("select esb.claim_message($1, $2, $3, $4)")
            {
                Parameters =
                {
                    new NpgsqlParameter<string> { TypedValue = claim.Bus },
                    new NpgsqlParameter<string> { TypedValue = claim.Endpoint },
                    new NpgsqlParameter<Guid> { TypedValue = claim.MessageId },
                    new NpgsqlParameter<byte[]> { TypedValue = claim.BodyHash },
                },
            }
        );

    public void AddCommand(DbBatch batch, SqlText text, string?[] values, IReadOnlyList<string?> types)
    {
        foreach (var statement in text.Statements)
        {
            var command = new NpgsqlBatchCommand(
                types.Any(type => type is not null)
                    ? statement.Render(position => Typed(position, types[statement.Values[position - 1]]))
                    : statement.Text
            );
            foreach (var value in statement.Values)
                command.Parameters.Add(Untyped(values[value]));
            ((NpgsqlBatch)batch).BatchCommands.Add(command);
        }
    }

    public string? FaultOfType(string type) => null; // the database knows its types, those of users among them

    /// <remarks>An output parameter of the type refcursor is a result set: it is fetched in the same transaction.</remarks>
    public async Task CallAsync(
        DbConnection connection,
        SqlProcedure procedure,
        string?[] values,
        Func<DbDataReader, Task> addResult,
        Func<DbDataReader, Task> addOut,
        CancellationToken cancellationToken
    )
    {
        var arguments = procedure.Parameters.Select(
            (parameter, index) => $"{Quoted(parameter.Name)} => {Typed(index + 1, parameter.Type)}"
        );
        await using var call = new NpgsqlCommand(
            $"call {string.Join('.', procedure.Name.Split('.').Select(Quoted))}({string.Join(", ", arguments)})",
            (NpgsqlConnection)connection
        )
        {
            CommandTimeout = 0,
        };
        foreach (var value in values)
            call.Parameters.Add(Untyped(value));
        var (output, cursors) = (new OutValues(), new List<string>());
        await using (var reader = await call.ExecuteReaderAsync(cancellationToken))
        {
            if (await reader.ReadAsync(cancellationToken))
            {
                for (var column = 0; column < reader.FieldCount; column++)
                {
                    if (reader.GetDataTypeName(column) != "refcursor")
                        output.Add(reader.GetName(column), reader.GetFieldType(column), reader.GetValue(column));
                    else if (!await reader.IsDBNullAsync(column, cancellationToken))
                        cursors.Add(reader.GetString(column));
                }
            }
        }

        foreach (var cursor in cursors)
        {
            await using var fetch = new NpgsqlCommand($"fetch all in {Quoted(cursor)}", (NpgsqlConnection)connection)
            {
                CommandTimeout = 0,
            };
            await using var rows = await fetch.ExecuteReaderAsync(cancellationToken);
            await addResult(rows);
        }

        await output.ReadByAsync(addOut);
    }

    public void AddFence(DbBatch batch, Fence fence) =>
        ((NpgsqlBatch)batch).BatchCommands.Add(
            new NpgsqlBatchCommand("select esb.pass_fence($1, $2, $3)")
            {
                Parameters =
                {
                    new NpgsqlParameter<string> { TypedValue = fence.Bus },
                    new NpgsqlParameter<string> { TypedValue = fence.Endpoint },
                    new NpgsqlParameter<long> { TypedValue = fence.Token },
                },
            }
        );

    public bool IsRefusal(Exception cause) => cause is PostgresException refused && !IsGeneral(refused);

    public int? IndexOfRefused(DbBatch batch, Exception cause) =>
        cause is PostgresException { BatchCommand: { } command } refused
        && !IsGeneral(refused)
        && ((NpgsqlBatch)batch).BatchCommands.IndexOf(command) is >= 0 and var index
            ? index
            : null;

    // A cast tells the database the type of a value that is text on the wire.
    private static string Typed(int position, string? type) => type is null ? $"${position}" : $"${position}::{type}";

    private static NpgsqlParameter Untyped(string? value) =>
        new() { NpgsqlDbType = NpgsqlDbType.Unknown, Value = (object?)value ?? DBNull.Value };

    private static string Quoted(string name) => $"\"{name.Replace("\"", "\"\"", StringComparison.Ordinal)}\"";

    // Failures unrelated to a message: the bus's tables, the elapsed time, and the state of the server.
    private static bool IsGeneral(PostgresException refused) =>
        PostgresFailures.Explain(refused, []) is { IsOutage: true } or { Kind: FaultKind.Timeout };

    public DuplicateNotice? DuplicateOf(Exception cause) =>
        cause is not PostgresException refused
            ? null
            : refused.SqlState switch
            {
                "ESB01" => new DuplicateNotice("ESB-SQL-DUPLICATE", $"The endpoint applied the message at {refused.Detail}."),
                "ESB02" => new DuplicateNotice(
                    DuplicateNotice.Conflict,
                    $"The endpoint applied a message of this id, with another body, at {refused.Detail}; that one stays."
                ),
                _ => null,
            };

    public DatabaseFailure? Explain(Exception cause, IReadOnlyList<string> parameters) =>
        cause switch
        {
            PostgresException refused => PostgresFailures.Explain(refused, parameters),
            // a time-out of name resolution has no type of its own
            NpgsqlException or TimeoutException or SocketException => PostgresFailures.Unreachable,
            // a command that begins in the moment in which Npgsql gives a lost connection up
            ObjectDisposedException => PostgresFailures.Unreachable,
            { Source: "Npgsql" } when cause.GetType() == typeof(Exception) => PostgresFailures.OutOfStep, // Npgsql has no own type for it
            _ => null,
        };
}
