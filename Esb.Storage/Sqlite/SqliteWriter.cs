using System.Collections.Concurrent;
using System.Threading.Channels;
using Esb.Core.Errors;
using Esb.Storage.Segments;
using Esb.Storage.Sql;
using Microsoft.Data.Sqlite;
using Microsoft.Extensions.Logging;

namespace Esb.Storage.Sqlite;

/// <summary>
/// The one writer of a database, on a thread of its own: while a group of changes is being committed, the next one gathers. A change is
/// answered once it is on the disk. Thread-safe.
/// </summary>
internal sealed partial class SqliteWriter : IAsyncDisposable
{
    private const int MaxGroup = 256;

    private readonly BlockingCollection<Change> _queue = new(2 * MaxGroup);
    private readonly TaskCompletionSource _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly SqliteConnection _connection;
    private readonly DiskProbe _probe;
    private readonly ILogger _logger;

    public SqliteWriter(SqliteConnection connection, DiskProbe probe, ILogger logger)
    {
        (_connection, _probe, _logger) = (connection, probe, logger);
        new Thread(Run) { IsBackground = true, Name = "esb store" }.Start();
    }

    /// <summary>Makes a change atomically; it is on disk when this returns.</summary>
    /// <param name="work">Makes the change. It waits for nothing but the database.</param>
    /// <param name="cancellationToken">Observed until the change begins.</param>
    public async Task<T> RunAsync<T>(Func<SqlSession, Task<T>> work, CancellationToken cancellationToken)
    {
        var change = new Change<T>(work, cancellationToken);
        // Waits for a full queue on another thread: a caller that polls sockets must not block.
        if (!TryAdd(change))
            await Task.Run(() => Add(change, cancellationToken), cancellationToken);
        return await change.Done;
    }

    /// <summary>Makes the waiting changes, then ends.</summary>
    public async ValueTask DisposeAsync()
    {
        _queue.CompleteAdding();
        await _ended.Task;
        _queue.Dispose();
        await _connection.DisposeAsync();
    }

    private bool TryAdd(Change change)
    {
        try
        {
            return _queue.TryAdd(change);
        }
        catch (InvalidOperationException ex)
        {
            throw StoreErrors.NotWritten(new ChannelClosedException("The store is stopping.", ex));
        }
    }

    private void Add(Change change, CancellationToken cancellationToken)
    {
        try
        {
            _queue.Add(change, cancellationToken);
        }
        catch (InvalidOperationException ex)
        {
            throw StoreErrors.NotWritten(new ChannelClosedException("The store is stopping.", ex));
        }
    }

    private void Run()
    {
        var group = new List<Change>(MaxGroup);
        foreach (var first in _queue.GetConsumingEnumerable())
        {
            group.Add(first);
            while (group.Count < MaxGroup && _queue.TryTake(out var next))
                group.Add(next);
            Commit(group);
            group.Clear();
        }

        _ended.SetResult();
    }

    private void Commit(List<Change> group)
    {
        try
        {
            SqliteFile.Run(_connection, "begin immediate");
            foreach (var change in group)
                change.Make(_connection);
            SqliteFile.Run(_connection, "commit");
            _probe.Succeeded();
        }
        catch (Exception ex)
        {
            TryRollBack();
            _probe.Failed();
            LogNotWritten(ex, _connection.DataSource);
            foreach (var change in group)
                change.Fail(SqliteErrors.NotWritten(ex));
            return;
        }

        foreach (var change in group)
            change.Complete();
    }

    // If the disk is full, SQLite has rolled back already.
    private void TryRollBack()
    {
        try
        {
            SqliteFile.Run(_connection, "rollback");
        }
        catch (SqliteException ex)
        {
            LogNotRolledBack(ex);
        }
    }

    [LoggerMessage(EventId = 4595, Level = LogLevel.Error, Message = "cannot write to {Database}")]
    private partial void LogNotWritten(Exception exception, string database);

    [LoggerMessage(EventId = 4596, Level = LogLevel.Debug, Message = "there was nothing to roll back")]
    private partial void LogNotRolledBack(Exception exception);

    private abstract class Change
    {
        public abstract void Make(SqliteConnection connection);

        public abstract void Complete();

        public abstract void Fail(EsbException failure);
    }

    /// <summary>A change within the transaction of its group. A failed change is rolled back alone.</summary>
    private sealed class Change<T>(Func<SqlSession, Task<T>> work, CancellationToken cancellationToken) : Change
    {
        private readonly TaskCompletionSource<T> _done = new(TaskCreationOptions.RunContinuationsAsynchronously);
        private Task<T>? _made;

        public Task<T> Done => _done.Task;

        /// <exception cref="SqliteException">The transaction is lost.</exception>
        public override void Make(SqliteConnection connection)
        {
            if (cancellationToken.IsCancellationRequested)
            {
                _made = Task.FromCanceled<T>(cancellationToken);
                return;
            }

            var session = new SqlSession(connection, SqliteDialect.Instance, CancellationToken.None);
            SqliteFile.Run(connection, "savepoint change");
            _made = Work(session);
            if (!_made.IsCompletedSuccessfully || session.IsGivenUp)
                SqliteFile.Run(connection, "rollback to change");
            SqliteFile.Run(connection, "release change");
        }

        public override void Complete()
        {
            if (_made!.Exception?.InnerException is { } failure)
                _done.SetException(SqliteErrors.IsFailure(failure) ? SqliteErrors.NotWritten(failure) : failure);
            else
                _done.SetFromTask(_made);
        }

        // The change's own failure, if it has one, is more specific.
        public override void Fail(EsbException failure) =>
            _done.SetException(_made?.Exception?.InnerException is { } own && !SqliteErrors.IsFailure(own) ? own : failure);

        // The asynchronous methods of SQLite complete synchronously.
        private Task<T> Work(SqlSession session)
        {
            var made = work(session);
            return made.IsCompleted
                ? made
                : throw new InvalidOperationException("A change of the store waits for something else than the store.");
        }
    }
}
