using System.Data;
using System.Runtime.CompilerServices;
using Dapper;
using Esb.Core.Errors;
using Npgsql;

namespace Esb.Storage.Postgres;

/// <summary>Reads the rows of a query one after the other.</summary>
internal static class PostgresRows
{
    /// <exception cref="EsbException"><c>ESB-STORE-AWAY</c>.</exception>
    public static async IAsyncEnumerable<T> ReadAsync<T>(NpgsqlDataSource source, string sql, object parameters, TimeSpan? timeout, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var (rows, isRow) = await BeginAsync(source, () => RowsAsync<T>(source, sql, parameters, timeout, cancellationToken).GetAsyncEnumerator(cancellationToken));
        await using (rows)
        {
            for (; isRow; isRow = await MoveNextAsync(rows)) yield return rows.Current;
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

    // Not the unbuffered query of Dapper: it ends each with a word to the server to cancel it, for which the client opens a connection, and its thread stands still until that is closed.
    private static async IAsyncEnumerable<T> RowsAsync<T>(NpgsqlDataSource source, string sql, object parameters, TimeSpan? timeout, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var query = new CommandDefinition(sql, parameters, commandTimeout: (int?)timeout?.TotalSeconds, cancellationToken: cancellationToken);
        await using var connection = await source.OpenConnectionAsync(cancellationToken);
        await using var reader = await connection.ExecuteReaderAsync(query, CommandBehavior.SequentialAccess | CommandBehavior.SingleResult);
        var parse = reader.GetRowParser<T>();
        var remain = true;
        try
        {
            while (remain = await reader.ReadAsync(cancellationToken)) yield return parse(reader);
        }
        finally
        {
            if (remain && !reader.IsClosed && reader is IWrappedDataReader { Command: { } left }) await Task.Run(left.Cancel, CancellationToken.None); // what remains may be long
        }
    }
}
