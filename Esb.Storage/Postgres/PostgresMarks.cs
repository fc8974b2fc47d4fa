using Esb.Core.Marks;
using Esb.Core.Storage;

namespace Esb.Storage.Postgres;

/// <summary>Signals of the health of the store's database: waits for locks, long transactions, dead rows, its size.</summary>
/// <remarks>Sessions of other users are seen only by a user who may read <c>pg_stat_activity</c> whole, such as a member of
/// <c>pg_monitor</c>.</remarks>
internal sealed class PostgresMarks(StoreConfig config, Store store) : IMarkSource
{
    private const double MiB = 1 << 20;

    private const string Query = """
        select
          (select coalesce(max(extract(epoch from clock_timestamp() - waitstart)), 0) from pg_locks
             where not granted and database = (select oid from pg_database where datname = current_database()))::float8 as lock_wait,
          (select coalesce(max(extract(epoch from clock_timestamp() - xact_start)), 0) from pg_stat_activity
             where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid())::float8 as transaction,
          (select coalesce(max(100.0 * n_dead_tup / (n_live_tup + n_dead_tup)), 0) from pg_stat_user_tables
             where schemaname = @schema and n_live_tup + n_dead_tup > 50000)::float8 as dead_rows,
          (case when @sized then pg_database_size(current_database()) else 0 end)::float8 as size
        """;

    public TimeSpan Interval => TimeSpan.FromSeconds(5);

    public async ValueTask<IReadOnlyList<MarkMeasure>> MeasureAsync(CancellationToken cancellationToken)
    {
        if (config is not PostgresStoreConfig { Schema: var schema, Health: var health })
            return [];
        var (lockWait, transaction, deadRows, size) = await store.Tables.FirstAsync(
            Query,
            row => (row.Double("lock_wait"), row.Double("transaction"), row.Double("dead_rows"), row.Double("size")),
            cancellationToken,
            ("schema", schema),
            ("sized", health.DatabaseSize is not null)
        );
        List<MarkMeasure> measures =
        [
            Seconds(MarkNames.LockWait, lockWait, health.LockWait),
            Seconds(MarkNames.Transaction, transaction, health.Transaction),
            new MarkMeasure(MarkNames.DeadRows, null, deadRows, health.DeadRows, health.DeadRows / 2.0, "%"),
        ];
        if (health.DatabaseSize is { } most)
            measures.Add(new MarkMeasure(MarkNames.DatabaseSize, null, size / MiB, most.Bytes / MiB, most.Bytes / MiB * 0.9, "MiB"));
        return measures;
    }

    private static MarkMeasure Seconds(string name, double value, TimeSpan high) =>
        new(name, null, value, high.TotalSeconds, high.TotalSeconds / 2, "s");
}
