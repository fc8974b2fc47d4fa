using Esb.Storage.Postgres.Evidence;
using Npgsql;

namespace Esb.Storage.Postgres.Audit;

/// <summary>Inserts rows of facts that have their place in a chain, all or none: a small group as arrays, in one round trip; a large one by
/// COPY, in a transaction.</summary>
internal static class PostgresAuditRows
{
    /// <summary>From this many rows on COPY is the faster way: it takes five round trips instead of one, six with bodies, but less work
    /// for each row. Measured by turns: 256 rows take 19 ms as arrays and 21 ms by COPY, 1,000 take 44 and 36.</summary>
    public const int WorthCopying = 512;

    private static readonly string Insert = $"""
    insert into audit_event ({PostgresAuditColumns.Names}) select {PostgresAuditColumns.Taken}
    from unnest({string.Join(
        ", ",
        Enumerable.Range(1, PostgresAuditColumns.All.Count).Select(number => $"${number}")
    )}) as fact ({PostgresAuditColumns.Names})
    """;

    private static readonly string Copy = $"copy audit_event ({PostgresAuditColumns.Names}) from stdin (format binary)";

    public static Task WriteAsync(NpgsqlDataSource database, IReadOnlyList<PostgresFactRow> rows, CancellationToken cancellationToken) =>
        rows.Count < WorthCopying ? InsertAsync(database, rows, cancellationToken) : CopyAsync(database, rows, cancellationToken);

    public static async Task InsertAsync(
        NpgsqlDataSource database,
        IReadOnlyList<PostgresFactRow> rows,
        CancellationToken cancellationToken
    )
    {
        await using var batch = database.CreateBatch();
        var events = new NpgsqlBatchCommand(Insert);
        foreach (var column in PostgresAuditColumns.All)
            events.Parameters.Add(column.Gather(rows));
        batch.BatchCommands.Add(events);
        if (PostgresAuditFields.ToInsert(rows) is { } fields)
            batch.BatchCommands.Add(fields);
        await batch.ExecuteNonQueryAsync(cancellationToken);
    }

    public static async Task CopyAsync(NpgsqlDataSource database, IReadOnlyList<PostgresFactRow> rows, CancellationToken cancellationToken)
    {
        await using var connection = await database.OpenConnectionAsync(cancellationToken);
        await using var transaction = await connection.BeginTransactionAsync(cancellationToken);
        var taken = await PostgresErasures.TakeOutAsync(connection, rows, cancellationToken);
        await using (var import = await connection.BeginBinaryImportAsync(Copy, cancellationToken))
        {
            foreach (var row in taken)
            {
                await import.StartRowAsync(cancellationToken);
                foreach (var column in PostgresAuditColumns.All)
                    await column.WriteAsync(import, row, cancellationToken);
            }

            await import.CompleteAsync(cancellationToken);
        }

        await PostgresAuditFields.CopyAsync(connection, rows, cancellationToken);
        await transaction.CommitAsync(cancellationToken);
    }
}
