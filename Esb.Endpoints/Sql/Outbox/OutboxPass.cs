using System.Collections.Concurrent;
using System.Data;
using System.Data.Common;
using System.Diagnostics;
using Esb.Core.Errors;
using Esb.Core.Topics;

namespace Esb.Endpoints.Sql.Outbox;

/// <summary>The result of a pass over a lane.</summary>
internal enum OutboxPassResult
{
    /// <summary>There is nothing to publish.</summary>
    Empty,

    /// <summary>Messages were read and processed.</summary>
    Published,

    /// <summary>Another host holds the lane.</summary>
    Busy,

    /// <summary>The database was unusable.</summary>
    Failed,
}

/// <summary>Publishes the first messages of a lane, in order per key and concurrently across keys, and deletes the confirmed ones. One pass
/// at a time.</summary>
/// <remarks>A crash in between publishes them again, with the same ids and in the same order per key. So does a silent host, whose lane
/// another host takes over after 30 s.</remarks>
internal sealed class OutboxPass(short lane, OutboxTable table, Database database, IOutgoingPublisher publisher)
{
    private static readonly TimeSpan StatementTime = TimeSpan.FromSeconds(30);

    // After twice this time, a host that is cut off begins nothing more, well before another host gets its lane.
    private static readonly TimeSpan WordInterval = TimeSpan.FromSeconds(10);

    // Handed to a transport that ends with this process, and not yet settled by its subscribers.
    private readonly ConcurrentDictionary<long, Task> _handed = new();

    /// <summary>The reason a message of the last pass was not published; null if all were.</summary>
    public string? Failure { get; private set; }

    /// <summary>The first waiting message of a lane that another host holds; null if none waits.</summary>
    public long? First { get; private set; }

    /// <summary>Processes one batch.</summary>
    /// <param name="holds">The entries to skip; failed ones are added.</param>
    /// <param name="cancellationToken">Stops before the next message of each key.</param>
    public async Task<OutboxPassResult> RunAsync(OutboxHolds holds, CancellationToken cancellationToken)
    {
        Failure = null;
        await using var rented = await database.RentAsync(database.Name, StatementTime, cancellationToken);
        // The lock belongs to a transaction, so that a dead host releases the lane. The rows themselves are not locked.
        await using var transaction = await rented.Connection.BeginTransactionAsync(IsolationLevel.ReadCommitted, cancellationToken);
        var (isTaken, isReadOnly) = await table.TryLockAsync(rented.Connection, lane, cancellationToken);
        if (isReadOnly)
            throw ReadOnly();
        if (!isTaken)
        {
            First = await table.FindFirstAsync(rented.Connection, lane, cancellationToken);
            return OutboxPassResult.Busy;
        }

        var rows = await table.ReadAsync(rented.Connection, lane, ([.. holds.Positions, .. _handed.Keys], holds.Keys), cancellationToken);
        if (rows.Count == 0)
            return OutboxPassResult.Empty;

        using var ending = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var publishing = PublishAsync(rows, holds, ending.Token);
        await KeepLaneAsync(rented.Connection, publishing, ending);
        var settled = await publishing;
        using var limited = new CancellationTokenSource(StatementTime); // confirmed messages are deleted, even if the host stops
        await OutboxTable.DeleteAsync(rented.Connection, settled, limited.Token);
        await transaction.CommitAsync(limited.Token);
        return OutboxPassResult.Published;
    }

    /// <summary>Waits until the messages held only by this process are settled and deleted here.</summary>
    public Task DrainAsync() => Task.WhenAll(_handed.Values);

    // Without deletion, published messages would be published again and again.
    private EndpointException ReadOnly()
    {
        database.Renew();
        return new EndpointException(database.Name, "ESB-SQL-CONNECTION", "The database takes no changes now.", isTransient: true)
        {
            IsOutage = true,
        };
    }

    // A topic may take long. If the lane cannot be kept meanwhile, publishing ends before the next message of each key: another host is
    // about to take over.
    private static async Task KeepLaneAsync(DbConnection connection, Task publishing, CancellationTokenSource ending)
    {
        while (true)
        {
            await publishing.WaitAsync(WordInterval).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            if (publishing.IsCompleted)
                return;
            var keeping = OutboxTable.KeepAsync(connection, CancellationToken.None); // the client's own time-out ends it
            await keeping.WaitAsync(WordInterval).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            if (keeping.IsCompletedSuccessfully)
                continue;
            await ending.CancelAsync();
            await Task.WhenAll(publishing, keeping);
        }
    }

    // Returns the rows that need not be kept any longer.
    private async Task<IReadOnlyCollection<OutboxRow>> PublishAsync(
        IReadOnlyList<OutboxRow> rows,
        OutboxHolds holds,
        CancellationToken cancellationToken
    )
    {
        var settled = new ConcurrentQueue<OutboxRow>();
        var failed = new ConcurrentQueue<OutboxRow>();
        await Task.WhenAll(
            rows.GroupBy(row => row.KeyHash ?? row.Position, row => row)
                .Select(group => PublishAsync(group, settled, failed, cancellationToken))
        );
        foreach (var row in failed)
            holds.Add(row);
        return settled;
    }

    // A failed message blocks the rest of its key.
    private async Task PublishAsync(
        IEnumerable<OutboxRow> rows,
        ConcurrentQueue<OutboxRow> settled,
        ConcurrentQueue<OutboxRow> failed,
        CancellationToken cancellationToken
    )
    {
        foreach (var row in rows)
        {
            try
            {
                using var trace = ContinueTrace(row.Outgoing.Parent);
                var settling = await publisher.PublishAsync(row.Outgoing, cancellationToken);
                if (settling.IsCompleted)
                    settled.Enqueue(row);
                else
                    _handed[row.Position] = ForgetAsync(row, settling);
            }
            catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
            {
                return;
            }
            catch (Exception ex) // any failure: the other keys continue, and their published messages are deleted
            {
                Failure = ex is EsbException ? ex.Message : $"A message cannot be published: {ex.GetType().Name}.";
                failed.Enqueue(row);
                return;
            }
        }
    }

    // A row that cannot be deleted is published again after the next start.
    private async Task ForgetAsync(OutboxRow row, Task settling)
    {
        await Task.WhenAny(settling);
        try
        {
            await database.UseAsync(
                database.Name,
                StatementTime,
                async (connection, limited) =>
                {
                    await OutboxTable.DeleteAsync(connection, [row], limited);
                    return true;
                },
                CancellationToken.None
            );
            _handed.TryRemove(row.Position, out _);
        }
        catch (Exception) // any failure: this task is not awaited before the host stops
        {
            Failure = "A published message could not be forgotten; it may be published again.";
        }
    }

    // Needed for the header and the audit fact, even without a listener for spans.
    private static Activity? ContinueTrace(ActivityContext parent) =>
        parent == default
            ? null
            : new Activity("outbox") { TraceStateString = parent.TraceState }
                .SetParentId(parent.TraceId, parent.SpanId, parent.TraceFlags)
                .Start();
}
