using System.Collections.Concurrent;
using System.Diagnostics;
using Esb.Storage.Sql;
using Microsoft.Data.Sqlite;

namespace Esb.Storage.Sqlite;

/// <summary>A few connections that only read, each for one question at a time. Thread-safe.</summary>
/// <param name="open">Opens one.</param>
/// <param name="limit">How long a question may take; null where that does not matter.</param>
internal sealed class SqliteReaders(Func<SqliteConnection> open, TimeSpan? limit) : IAsyncDisposable
{
    private const int MaxConnections = 4;

    private readonly SemaphoreSlim _free = new(MaxConnections, MaxConnections);
    private readonly ConcurrentBag<Reader> _idle = [];

    /// <summary>Asks on a thread that may stand still; sees the database as it is at the beginning.</summary>
    public async Task<T> RunAsync<T>(Func<SqlSession, Task<T>> work, CancellationToken cancellationToken)
    {
        await EnterAsync(cancellationToken);
        try
        {
            return await Task.Run(() => AskAsync(work, cancellationToken), cancellationToken);
        }
        catch (Exception ex) when (SqliteErrors.IsFailure(ex))
        {
            throw SqliteErrors.NotRead(ex);
        }
        finally
        {
            _free.Release();
        }
    }

    public async ValueTask DisposeAsync()
    {
        for (var i = 0; i < MaxConnections; i++)
            await _free.WaitAsync();
        foreach (var reader in _idle)
            await reader.Connection.DisposeAsync();
        _free.Dispose();
    }

    private async Task EnterAsync(CancellationToken cancellationToken)
    {
        try
        {
            await _free.WaitAsync(cancellationToken);
        }
        catch (ObjectDisposedException ex)
        {
            throw SqliteErrors.NotRead(ex); // the store has stopped
        }
    }

    private async Task<T> AskAsync<T>(Func<SqlSession, Task<T>> work, CancellationToken cancellationToken)
    {
        if (!_idle.TryTake(out var reader))
            reader = new Reader(open(), limit);
        try
        {
            reader.Begin();
            SqliteFile.Run(reader.Connection, "begin");
            var result = await work(new SqlSession(reader.Connection, SqliteDialect.Instance, cancellationToken));
            SqliteFile.Run(reader.Connection, "commit");
            _idle.Add(reader);
            return result;
        }
        catch
        {
            await reader.Connection.DisposeAsync(); // whatever state it is in
            throw;
        }
    }

    private sealed class Reader
    {
        private long _begun;

        public Reader(SqliteConnection connection, TimeSpan? limit)
        {
            Connection = connection;
            if (limit is { } longest)
                SqliteFile.Limit(connection, () => Stopwatch.GetElapsedTime(_begun) > longest);
        }

        public SqliteConnection Connection { get; }

        public void Begin() => _begun = Stopwatch.GetTimestamp();
    }
}
