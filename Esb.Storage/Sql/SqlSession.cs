using System.Data.Common;

namespace Esb.Storage.Sql;

/// <summary>A connection, perhaps within a transaction, as the stores use it. Parameters are written <c>@name</c>.</summary>
internal sealed class SqlSession(DbConnection connection, SqlDialect dialect, CancellationToken cancellationToken)
{
    public SqlDialect Dialect => dialect;

    /// <summary>How long a statement may take; null for what the connection says.</summary>
    public TimeSpan? Timeout { get; set; }

    /// <summary>Whether the transaction is to be rolled back although nothing failed.</summary>
    public bool IsGivenUp { get; private set; }

    /// <summary>Changes nothing after all.</summary>
    public void GiveUp() => IsGivenUp = true;

    /// <returns>How many rows were changed.</returns>
    public async Task<int> ExecuteAsync(string sql, params (string Name, object? Value)[] parameters)
    {
        await using var command = Command(sql, parameters);
        return await command.ExecuteNonQueryAsync(cancellationToken);
    }

    /// <summary>Executes a statement that selects from rows.</summary>
    public async Task ExecuteAsync(string sql, SqlRows rows)
    {
        await using var command = Command(sql, []);
        dialect.Bind(command, rows);
        await command.ExecuteNonQueryAsync(cancellationToken);
    }

    public async Task<List<T>> QueryAsync<T>(string sql, Func<SqlRow, T> read, params (string Name, object? Value)[] parameters)
    {
        await using var results = await QueryManyAsync(sql, parameters);
        return await results.ReadAsync(read);
    }

    /// <summary>The first row; null where there is none.</summary>
    public async Task<T?> FirstAsync<T>(string sql, Func<SqlRow, T> read, params (string Name, object? Value)[] parameters)
    {
        var rows = await QueryAsync(sql, read, parameters);
        return rows.Count > 0 ? rows[0] : default;
    }

    /// <summary>
    /// Several queries in one text, which may select from rows: <see cref="SqlResults.ReadAsync"/> is called once for each.
    /// </summary>
    public async Task<SqlResults> QueryManyAsync(string sql, (string Name, object? Value)[] parameters, params SqlRows[] rows)
    {
        var command = Command(sql, parameters);
        foreach (var some in rows) dialect.Bind(command, some);
        try
        {
            return new SqlResults(command, await command.ExecuteReaderAsync(cancellationToken), dialect, cancellationToken);
        }
        catch
        {
            await command.DisposeAsync();
            throw;
        }
    }

    private DbCommand Command(string sql, (string Name, object? Value)[] parameters)
    {
        var command = connection.CreateCommand();
        command.CommandText = sql;
        if (Timeout is { } timeout) command.CommandTimeout = (int)timeout.TotalSeconds;
        foreach (var (name, value) in parameters) dialect.Bind(command, name, value);
        return command;
    }
}

/// <summary>The results of several queries, one after the other.</summary>
internal sealed class SqlResults(DbCommand command, DbDataReader reader, SqlDialect dialect, CancellationToken cancellationToken) : IAsyncDisposable
{
    private bool _isNext;

    /// <summary>All rows of the next result.</summary>
    public async Task<List<T>> ReadAsync<T>(Func<SqlRow, T> read)
    {
        if (_isNext) await reader.NextResultAsync(cancellationToken);
        _isNext = true;
        var rows = new List<T>();
        while (await reader.ReadAsync(cancellationToken)) rows.Add(read(new SqlRow(reader, dialect)));
        return rows;
    }

    /// <summary>The first row of the next result; null where it has none.</summary>
    public async Task<T?> FirstAsync<T>(Func<SqlRow, T> read)
    {
        var rows = await ReadAsync(read);
        return rows.Count > 0 ? rows[0] : default;
    }

    public async ValueTask DisposeAsync()
    {
        while (await reader.NextResultAsync(cancellationToken))
        {
            // To the end: what is left of a command would be cancelled.
        }

        await reader.DisposeAsync();
        await command.DisposeAsync();
    }
}
