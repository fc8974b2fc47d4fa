using System.Collections.Concurrent;
using System.Data;
using System.Data.Common;
using System.Diagnostics;
using Esb.Core.Errors;
using Esb.Core.Topics;

namespace Esb.Endpoints.Sql.Outbox;

/// <summary>What a pass over a lane came to.</summary>
internal enum OutboxPassResult
{
    /// <summary>There is nothing to publish.</summary>
    Empty,

    /// <summary>Something was read and worked on.</summary>
    Published,

    /// <summary>Another host has the lane.</summary>
    Busy,

    /// <summary>The database could not be used.</summary>
    Failed,
}

/// <summary>Publishes the first messages of a lane: those of one key one after another, different keys at once, and forgets what was confirmed. One pass at a time.</summary>
/// <remarks>A crash in between publishes them again, with the same ids and in the same order of each key; so does a host that falls silent, which another one follows after 30 s.</remarks>
internal sealed class OutboxPass(short lane, OutboxTable table, Database database, IOutgoingPublisher publisher)
{
    private static readonly TimeSpan StatementTime = TimeSpan.FromSeconds(30);

    // Twice this, and a host that is cut off begins nothing more, well before another one has its lane.
    private static readonly TimeSpan WordInterval = TimeSpan.FromSeconds(10);

    // Handed to a transport that ends with this process, and not settled by its subscribers yet.
    private readonly ConcurrentDictionary<long, Task> _handed = new();

    /// <summary>Why a message of the last pass was not published; null where all were.</summary>
    public string? Failure { get; private set; }

    /// <summary>The first message that waits in a lane that another host has; null where none does.</summary>
    public long? First { get; private set; }

    /// <summary>Works through one batch.</summary>
    /// <param name="holds">What is passed over; what fails is added.</param>
    /// <param name="cancellationToken">Stops before the next message of each key.</param>
    public async Task<OutboxPassResult> RunAsync(OutboxHolds holds, CancellationToken cancellationToken)
    {
        Failure = null;
        await using var rented = await database.RentAsync(database.Name, StatementTime, cancellationToken);
        // The lock of a transaction: also a host that dies lets the lane go. The rows themselves are not locked.
        await using var transaction = await rented.Connection.BeginTransactionAsync(IsolationLevel.ReadCommitted, cancellationToken);
        var (isTaken, isReadOnly) = await table.TryLockAsync(rented.Connection, lane, cancellationToken);
        if (isReadOnly) throw ReadOnly();
        if (!isTaken)
        {
            First = await table.FindFirstAsync(rented.Connection, lane, cancellationToken);
            return OutboxPassResult.Busy;
        }

        var rows = await table.ReadAsync(rented.Connection, lane, ([.. holds.Positions, .. _handed.Keys], holds.Keys), cancellationToken);
        if (rows.Count == 0) return OutboxPassResult.Empty;

        using var ending = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var publishing = PublishAsync(rows, holds, ending.Token);
        await KeepLaneAsync(rented.Connection, publishing, ending);
        var settled = await publishing;
        using var limited = new CancellationTokenSource(StatementTime); // what is confirmed is forgotten, also when the host stops
        await OutboxTable.DeleteAsync(rented.Connection, settled, limited.Token);
        await transaction.CommitAsync(limited.Token);
        return OutboxPassResult.Published;
    }

    /// <summary>Waits until what only this process keeps has been settled, and is forgotten here.</summary>
    public Task DrainAsync() => Task.WhenAll(_handed.Values);

    // What is published without being forgotten would be published again and again.
    private EndpointException ReadOnly()
    {
        database.Renew();
        return new EndpointException(database.Name, "ESB-SQL-CONNECTION", "The database takes no changes now.", isTransient: true) { IsOutage = true };
    }

    // A topic may take its time. Who cannot say a word meanwhile ends before the next message of each key: another host is about to publish them.
    private static async Task KeepLaneAsync(DbConnection connection, Task publishing, CancellationTokenSource ending)
    {
        while (true)
        {
            await publishing.WaitAsync(WordInterval).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            if (publishing.IsCompleted) return;
            var keeping = OutboxTable.KeepAsync(connection, CancellationToken.None); // the client's own time-out ends it
            await keeping.WaitAsync(WordInterval).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            if (keeping.IsCompletedSuccessfully) continue;
            await ending.CancelAsync();
            await Task.WhenAll(publishing, keeping);
        }
    }

    // Those that need not be kept any longer.
    private async Task<IReadOnlyCollection<OutboxRow>> PublishAsync(IReadOnlyList<OutboxRow> rows, OutboxHolds holds, CancellationToken cancellationToken)
    {
        var settled = new ConcurrentQueue<OutboxRow>();
        var failed = new ConcurrentQueue<OutboxRow>();
        await Task.WhenAll(rows.GroupBy(row => row.KeyHash ?? row.Position, row => row).Select(group => PublishAsync(group, settled, failed, cancellationToken)));
        foreach (var row in failed) holds.Add(row);
        return settled;
    }

    // Behind a message that fails, its key waits.
    private async Task PublishAsync(IEnumerable<OutboxRow> rows, ConcurrentQueue<OutboxRow> settled, ConcurrentQueue<OutboxRow> failed, CancellationToken cancellationToken)
    {
        foreach (var row in rows)
        {
            try
            {
                using var trace = ContinueTrace(row.Outgoing.Parent);
                var settling = await publisher.PublishAsync(row.Outgoing, cancellationToken);
                if (settling.IsCompleted) settled.Enqueue(row);
                else _handed[row.Position] = ForgetAsync(row, settling);
            }
            catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
            {
                return;
            }
            catch (Exception ex) // whatever it is: the other keys go on, and what they publish is forgotten
            {
                Failure = ex is EsbException ? ex.Message : $"A message cannot be published: {ex.GetType().Name}.";
                failed.Enqueue(row);
                return;
            }
        }
    }

    // A row that cannot be forgotten is published again after the next start.
    private async Task ForgetAsync(OutboxRow row, Task settling)
    {
        await Task.WhenAny(settling);
        try
        {
            await database.UseAsync(database.Name, StatementTime, async (connection, limited) =>
            {
                await OutboxTable.DeleteAsync(connection, [row], limited);
                return true;
            }, CancellationToken.None);
            _handed.TryRemove(row.Position, out _);
        }
        catch (Exception) // whatever it is: nobody hears of this task before the host stops
        {
            Failure = "A published message could not be forgotten; it may be published again.";
        }
    }

    // For the header and the audit fact, also where nobody listens to spans.
    private static Activity? ContinueTrace(ActivityContext parent) =>
        parent == default ? null : new Activity("outbox") { TraceStateString = parent.TraceState }.SetParentId(parent.TraceId, parent.SpanId, parent.TraceFlags).Start();
}
