using System.Collections.Concurrent;
using System.Data.Common;
using Npgsql;

namespace Esb.Endpoints.Sql.Transactions;

/// <summary>The marks of the transactions of one database: a mark exists if, and only if, its transaction was committed.
/// Thread-safe.</summary>
internal sealed class CommitMarks
{
    private const int FewestForgotten = 50;
    private const int MostForgotten = 200;

    private readonly ConcurrentQueue<Guid> _settled = new();

    /// <summary>Marks the transaction of a connection, and deletes some marks that are no longer needed; if it fails, those stay for
    /// <see cref="Tables.BusSchema.KeepAsync"/>.</summary>
    public async Task<Guid> SetAsync(DbConnection connection, CancellationToken cancellationToken)
    {
        var mark = Guid.CreateVersion7(); // adjacent in the index
        await using var batch = new NpgsqlBatch((NpgsqlConnection)connection);
        batch.BatchCommands.Add(
            new NpgsqlBatchCommand("insert into esb.transaction_mark (id) values ($1)")
            {
                Parameters = { new NpgsqlParameter<Guid> { TypedValue = mark } },
            }
        );
        if (TakeSettled() is { Length: > 0 } settled)
            batch.BatchCommands.Add(
                new NpgsqlBatchCommand("delete from esb.transaction_mark where id = any ($1)")
                {
                    Parameters = { new NpgsqlParameter<Guid[]> { TypedValue = settled } },
                }
            );
        await batch.ExecuteNonQueryAsync(cancellationToken);
        return mark;
    }

    /// <summary>Reports that the outcome of a transaction is known.</summary>
    public void Settle(Guid mark) => _settled.Enqueue(mark);

    private Guid[] TakeSettled()
    {
        if (_settled.Count < FewestForgotten)
            return [];
        var taken = new List<Guid>(MostForgotten);
        while (taken.Count < MostForgotten && _settled.TryDequeue(out var mark))
            taken.Add(mark);
        return [.. taken];
    }
}
