using Esb.Core.Errors;
using Esb.Storage.Encryption;

namespace Esb.Storage.Sql;

/// <summary>The database of a store, for those parts of it that PostgreSQL and SQLite have in common. Thread-safe.</summary>
internal abstract class SqlDatabase(SqlDialect dialect, BodyCipher cipher)
{
    private const int BatchSize = 1000;

    public SqlDialect Dialect => dialect;

    /// <summary>Encrypts and decrypts the bodies in its tables.</summary>
    public BodyCipher Cipher => cipher;

    /// <summary>Runs queries that change nothing.</summary>
    /// <exception cref="EsbException"><c>ESB-STORE-AWAY</c>; <c>ESB-STORE-VERSION</c>; <c>ESB-STORE-DAMAGED</c>.</exception>
    public abstract Task<T> ReadAsync<T>(Func<SqlSession, Task<T>> work, CancellationToken cancellationToken);

    /// <summary>Runs one statement; durable when it returns.</summary>
    /// <param name="work">Runs it.</param>
    /// <param name="cancellationToken">Cancels the operation.</param>
    /// <param name="isRepeatable">True if the statement may run once more when its outcome is unknown.</param>
    /// <exception cref="EsbException">As <see cref="ReadAsync"/>, and <c>ESB-STORE-WRITE</c>.</exception>
    public abstract Task<T> WriteAsync<T>(Func<SqlSession, Task<T>> work, CancellationToken cancellationToken, bool isRepeatable = false);

    /// <summary>Runs statements atomically; durable when it returns.</summary>
    /// <exception cref="EsbException">As <see cref="WriteAsync"/>.</exception>
    public abstract Task<T> TransactAsync<T>(Func<SqlSession, Task<T>> work, CancellationToken cancellationToken);

    /// <summary>Runs a search, which only reads and may take longer than anything else, without delaying other work.</summary>
    /// <exception cref="EsbException">As <see cref="ReadAsync"/>.</exception>
    public abstract IAsyncEnumerable<T> SearchAsync<T>(
        string sql,
        IReadOnlyList<(string Name, object? Value)> parameters,
        Func<SqlRow, T> read,
        CancellationToken cancellationToken
    );

    /// <summary>True if the database refuses the values themselves, so that a retry is useless.</summary>
    public abstract bool IsRefusal(Exception exception);

    /// <summary>The time by which this host is ahead of the clock that decides what is old; zero if it is not.</summary>
    protected abstract Task<TimeSpan> AdvanceAsync(CancellationToken cancellationToken);

    /// <summary>The first row of a query; null if there are no rows.</summary>
    public Task<T?> FirstAsync<T>(
        string sql,
        Func<SqlRow, T> read,
        CancellationToken cancellationToken,
        params (string Name, object? Value)[] parameters
    ) => ReadAsync(session => session.FirstAsync(sql, read, parameters), cancellationToken);

    /// <summary>All rows of a query.</summary>
    public Task<List<T>> QueryAsync<T>(
        string sql,
        Func<SqlRow, T> read,
        CancellationToken cancellationToken,
        params (string Name, object? Value)[] parameters
    ) => ReadAsync(session => session.QueryAsync(sql, read, parameters), cancellationToken);

    /// <summary>Runs one statement.</summary>
    /// <returns>The number of rows changed.</returns>
    public Task<int> ExecuteAsync(string sql, CancellationToken cancellationToken, params (string Name, object? Value)[] parameters) =>
        WriteAsync(session => session.ExecuteAsync(sql, parameters), cancellationToken);

    /// <summary>Deletes old rows in batches: no lock and no transaction is held for long.</summary>
    /// <param name="sql">Deletes up to <c>@limit</c> rows from before <c>@before</c>.</param>
    /// <param name="before">The time, by the clock of this host; corrected if that clock is ahead of the database.</param>
    /// <param name="cancellationToken">Cancels the operation; deleted rows stay deleted.</param>
    /// <returns>The number of rows deleted.</returns>
    public async Task<long> DeleteAsync(string sql, DateTimeOffset before, CancellationToken cancellationToken)
    {
        before -= await AdvanceAsync(cancellationToken);
        for (var deleted = 0L; ; )
        {
            var batch = await ExecuteAsync(sql, cancellationToken, ("before", before), ("limit", BatchSize));
            deleted += batch;
            if (batch < BatchSize)
                return deleted;
        }
    }
}
