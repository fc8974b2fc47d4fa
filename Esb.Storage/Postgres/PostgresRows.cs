using System.Data;
using System.Data.Common;
using System.Runtime.CompilerServices;
using Dapper;
using Esb.Core.Errors;
using Esb.Storage.Sql;
using Npgsql;

namespace Esb.Storage.Postgres;

/// <summary>Reads the rows of a query one after the other.</summary>
internal static class PostgresRows
{
    /// <exception cref="EsbException"><c>ESB-STORE-AWAY</c>.</exception>
    public static IAsyncEnumerable<T> ReadAsync<T>(
        NpgsqlDataSource source,
        string sql,
        object parameters,
        TimeSpan? timeout,
        CancellationToken cancellationToken
    ) =>
        ReadAsync(
            source,
            connection =>
                AskAsync<T>(
                    connection,
                    new CommandDefinition(
                        sql,
                        parameters,
                        commandTimeout: (int?)timeout?.TotalSeconds,
                        cancellationToken: cancellationToken
                    )
                ),
            cancellationToken
        );

    /// <exception cref="EsbException"><c>ESB-STORE-AWAY</c>.</exception>
    public static IAsyncEnumerable<T> ReadAsync<T>(
        NpgsqlDataSource source,
        string sql,
        IReadOnlyList<(string Name, object? Value)> parameters,
        Func<SqlRow, T> read,
        CancellationToken cancellationToken
    ) => ReadAsync(source, connection => AskAsync(connection, sql, parameters, read, cancellationToken), cancellationToken);

    private static async IAsyncEnumerable<T> ReadAsync<T>(
        NpgsqlDataSource source,
        Func<NpgsqlConnection, Task<Question<T>>> ask,
        [EnumeratorCancellation] CancellationToken cancellationToken
    )
    {
        var (rows, isRow) = await BeginAsync(source, () => RowsAsync(source, ask, cancellationToken).GetAsyncEnumerator(cancellationToken));
        await using (rows)
        {
            for (; isRow; isRow = await MoveNextAsync(rows))
                yield return rows.Current;
        }
    }

    // A pooled session that ended meanwhile says nothing of the database: it is asked once more, on a new one.
    private static async Task<(IAsyncEnumerator<T> Rows, bool IsRow)> BeginAsync<T>(NpgsqlDataSource source, Func<IAsyncEnumerator<T>> open)
    {
        var rows = open();
        try
        {
            return (rows, await rows.MoveNextAsync());
        }
        catch (NpgsqlException ex) when (PostgresErrors.IsLostSession(ex))
        {
            source.Clear(); // the others of the pool ended with it
        }
        catch (Exception ex) when (PostgresErrors.IsFailure(ex))
        {
            throw PostgresErrors.NotServed(ex);
        }

        rows = open();
        return (rows, await MoveNextAsync(rows));
    }

    private static async Task<bool> MoveNextAsync<T>(IAsyncEnumerator<T> rows)
    {
        try
        {
            return await rows.MoveNextAsync();
        }
        catch (Exception ex) when (PostgresErrors.IsFailure(ex))
        {
            throw PostgresErrors.NotServed(ex);
        }
    }

    // Not the unbuffered query of Dapper: it ends each with a word to the server to cancel it, for which the client opens a connection, and
    // its thread stands still until that is closed.
    private static async IAsyncEnumerable<T> RowsAsync<T>(
        NpgsqlDataSource source,
        Func<NpgsqlConnection, Task<Question<T>>> ask,
        [EnumeratorCancellation] CancellationToken cancellationToken
    )
    {
        await using var connection = await source.OpenConnectionAsync(cancellationToken);
        var (command, reader, read) = await ask(connection);
        await using var asked = command;
        await using var answer = reader;
        var remain = true;
        try
        {
            while (remain = await reader.ReadAsync(cancellationToken))
                yield return read(reader);
        }
        finally
        {
            if (remain && !reader.IsClosed)
                await Task.Run(command.Cancel, CancellationToken.None); // what remains may be long
        }
    }

    private static async Task<Question<T>> AskAsync<T>(NpgsqlConnection connection, CommandDefinition query)
    {
        var reader = await connection.ExecuteReaderAsync(query, CommandBehavior.SequentialAccess | CommandBehavior.SingleResult);
        return new Question<T>((DbCommand)((IWrappedDataReader)reader).Command, reader, reader.GetRowParser<T>());
    }

    private static async Task<Question<T>> AskAsync<T>(
        NpgsqlConnection connection,
        string sql,
        IReadOnlyList<(string Name, object? Value)> parameters,
        Func<SqlRow, T> read,
        CancellationToken cancellationToken
    )
    {
        var command = new NpgsqlCommand(sql, connection);
        foreach (var (name, value) in parameters)
            PostgresDialect.Instance.Bind(command, name, value);
        return new Question<T>(
            command,
            await command.ExecuteReaderAsync(CommandBehavior.SingleResult, cancellationToken),
            row => read(new SqlRow(row, PostgresDialect.Instance))
        );
    }

    private sealed record Question<T>(DbCommand Command, DbDataReader Reader, Func<DbDataReader, T> Read);
}
