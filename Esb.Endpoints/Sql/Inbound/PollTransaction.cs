using System.Data;
using System.Data.Common;
using Esb.Core.Errors;
using Esb.Core.Processes;
using Esb.Endpoints.Sql.Transactions;

namespace Esb.Endpoints.Sql.Inbound;

/// <summary>The transaction of a poll: with the outbox of its database, or plain. Used by one caller; disposal without a commit rolls it
/// back.</summary>
internal sealed class PollTransaction : IAsyncDisposable
{
    private static readonly TimeSpan Longest = TimeSpan.FromSeconds(60); // of a command, and of the wait for a connection

    private readonly string _endpoint;
    private readonly SqlUnitOfWork? _unitOfWork;
    private readonly RentedConnection? _rented;
    private readonly DbTransaction? _transaction;

    private PollTransaction(string endpoint, SqlUnitOfWork? unitOfWork, RentedConnection? rented, DbTransaction? transaction) =>
        (_endpoint, _unitOfWork, _rented, _transaction) = (endpoint, unitOfWork, rented, transaction);

    /// <summary>Takes the messages to publish; null if they are published before the commit.</summary>
    public IUnitOfWork? Outbox => _unitOfWork;

    /// <summary>Begins a transaction whose messages are published if, and only if, it commits.</summary>
    /// <exception cref="EsbException">As <see cref="ITransactions.BeginAsync"/>.</exception>
    public static async Task<PollTransaction> BeginWithOutboxAsync(
        string endpoint,
        string connection,
        ITransactions transactions,
        CancellationToken cancellationToken
    ) =>
        new(
            endpoint,
            (SqlUnitOfWork)await transactions.BeginAsync(connection, Longest, cancellationToken),
            rented: null,
            transaction: null
        );

    /// <summary>Begins a transaction without an outbox.</summary>
    /// <exception cref="EsbException">The database is unreachable, or no connection became free.</exception>
    public static async Task<PollTransaction> BeginAsync(string endpoint, Database database, CancellationToken cancellationToken)
    {
        var rented = await database.RentAsync(endpoint, Longest, cancellationToken);
        try
        {
            return new(
                endpoint,
                unitOfWork: null,
                rented,
                await rented.Connection.BeginTransactionAsync(IsolationLevel.ReadCommitted, cancellationToken)
            );
        }
        catch
        {
            await rented.DisposeAsync();
            throw;
        }
    }

    /// <summary>Runs work in the transaction. After a failure the transaction can only be disposed.</summary>
    /// <exception cref="EndpointException"><c>ESB-SQL-TIMEOUT</c>.</exception>
    public async Task<T> UseAsync<T>(Func<DbConnection, CancellationToken, Task<T>> work, CancellationToken cancellationToken)
    {
        if (_unitOfWork is not null)
            return await _unitOfWork.UseAsync(_endpoint, Longest, work, cancellationToken);
        using var limited = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        limited.CancelAfter(Longest);
        try
        {
            return await work(_rented!.Connection, limited.Token);
        }
        catch (OperationCanceledException ex) when (!cancellationToken.IsCancellationRequested)
        {
            throw Database.TimedOut(_endpoint, Longest, ex);
        }
    }

    /// <summary>Commits. Of a plain transaction whose commit gets no answer the next poll shows the outcome: rows that are still found are
    /// taken again, as the same messages.</summary>
    /// <exception cref="EsbException">It was not committed, or the outcome is unknown.</exception>
    public Task CommitAsync(CancellationToken cancellationToken) =>
        _unitOfWork?.CommitAsync(cancellationToken) ?? _transaction!.CommitAsync(cancellationToken);

    public async ValueTask DisposeAsync()
    {
        try
        {
            if (_unitOfWork is not null)
                await _unitOfWork.DisposeAsync();
            if (_transaction is not null)
                await _transaction.DisposeAsync();
        }
        finally
        {
            if (_rented is not null)
                await _rented.DisposeAsync();
        }
    }
}
