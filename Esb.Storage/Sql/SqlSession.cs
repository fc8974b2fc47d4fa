using System.Data.Common;

namespace Esb.Storage.Sql;

/// <summary>A connection, perhaps within a transaction, as the stores use it. Parameters are written <c>@name</c>.</summary>
internal sealed class SqlSession(DbConnection connection, SqlDialect dialect, CancellationToken cancellationToken)
{
    public SqlDialect Dialect => dialect;

    /// <summary>The time-out of a statement; null for the default of the connection.</summary>
    public TimeSpan? Timeout { get; set; }

    /// <summary>True if the transaction is to be rolled back although nothing failed.</summary>
    public bool IsGivenUp { get; private set; }

    /// <summary>Rolls the transaction back at its end.</summary>
    public void GiveUp() => IsGivenUp = true;

    /// <returns>The number of rows changed.</returns>
    public async Task<int> ExecuteAsync(string sql, params (string Name, object? Value)[] parameters)
    {
        await using var command = Command(sql, parameters);
        return await command.ExecuteNonQueryAsync(cancellationToken);
    }

    /// <summary>Executes a statement that selects from rows.</summary>
    public Task ExecuteAsync(string sql, SqlRows rows) => ExecuteAsync(sql, [rows]);

    /// <summary>Executes several statements in one text, which may select from rows.</summary>
    public async Task ExecuteAsync(string sql, IEnumerable<SqlRows> rows)
    {
        await using var command = Command(sql, []);
        foreach (var some in rows)
            dialect.Bind(command, some);
        await command.ExecuteNonQueryAsync(cancellationToken);
    }

    public async Task<List<T>> QueryAsync<T>(string sql, Func<SqlRow, T> read, params (string Name, object? Value)[] parameters)
    {
        await using var results = await QueryManyAsync(sql, parameters);
        return await results.ReadAsync(read);
    }

    /// <summary>The first row; null if there are no rows.</summary>
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
        foreach (var some in rows)
            dialect.Bind(command, some);
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
        if (Timeout is { } timeout)
            command.CommandTimeout = (int)timeout.TotalSeconds;
        foreach (var (name, value) in parameters)
            dialect.Bind(command, name, value);
        return command;
    }
}

/// <summary>The results of several queries, one after the other.</summary>
internal sealed class SqlResults(DbCommand command, DbDataReader reader, SqlDialect dialect, CancellationToken cancellationToken)
    : IAsyncDisposable
{
    private bool _isNext;

    /// <summary>All rows of the next result.</summary>
    public async Task<List<T>> ReadAsync<T>(Func<SqlRow, T> read)
    {
        if (_isNext)
            await reader.NextResultAsync(cancellationToken);
        _isNext = true;
        var rows = new List<T>();
        while (await reader.ReadAsync(cancellationToken))
            rows.Add(read(new SqlRow(reader, dialect)));
        return rows;
    }

    /// <summary>The first row of the next result; null if it has none.</summary>
    public async Task<T?> FirstAsync<T>(Func<SqlRow, T> read)
    {
        var rows = await ReadAsync(read);
        return rows.Count > 0 ? rows[0] : default;
    }

    public async ValueTask DisposeAsync()
    {
        while (await reader.NextResultAsync(cancellationToken))
        {
            // Reads to the end: the rest of a command would be cancelled.
        }

        await reader.DisposeAsync();
        await command.DisposeAsync();
    }
}
