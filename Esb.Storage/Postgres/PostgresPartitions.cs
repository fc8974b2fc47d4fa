using System.Collections.Concurrent;
using System.Globalization;
using System.Text;
using Dapper;
using Npgsql;

namespace Esb.Storage.Postgres;

/// <summary>Makes the daily partitions of tables, some days ahead, and drops old ones. Thread-safe.</summary>
/// <param name="database">The database.</param>
/// <param name="tables">The tables, which are kept equally long.</param>
internal sealed class PostgresPartitions(NpgsqlDataSource database, params string[] tables)
{
    private const int DaysAhead = 7;
    private const long PartitionLock = 0x45_53_42_00_02;
    private const string DayFormat = "yyyyMMdd";

    private readonly ConcurrentDictionary<DateOnly, bool> _existing = new();

    /// <summary>Today, yesterday and the days ahead: making one while it is needed would make everybody wait.</summary>
    public Task MakeAheadAsync(DateTimeOffset now, CancellationToken cancellationToken) =>
        MakeAsync(Enumerable.Range(-1, DaysAhead + 2).Select(days => DayOf(now.AddDays(days))), cancellationToken);

    /// <summary>Makes those of the days that are not known to exist.</summary>
    public async Task MakeAsync(IEnumerable<DateOnly> days, CancellationToken cancellationToken)
    {
        var missing = days.Distinct().Where(day => !_existing.ContainsKey(day)).ToList();
        if (missing.Count == 0) return;

        var sql = new StringBuilder().Append(CultureInfo.InvariantCulture, $"select pg_advisory_xact_lock({PartitionLock});");
        foreach (var day in missing)
        {
            foreach (var table in tables)
                sql.Append(CultureInfo.InvariantCulture, $"create table if not exists {NameOf(table, day)} partition of {table} for values from ('{day:yyyy-MM-dd} 00:00+00') to ('{day.AddDays(1):yyyy-MM-dd} 00:00+00');");
        }

        await using var connection = await database.OpenConnectionAsync(cancellationToken);
        await using var transaction = await connection.BeginTransactionAsync(cancellationToken);
        await connection.ExecuteAsync(new CommandDefinition(sql.ToString(), cancellationToken: cancellationToken));
        await transaction.CommitAsync(cancellationToken);
        foreach (var day in missing) _existing[day] = true;
    }

    /// <summary>Drops the days that ended before a time.</summary>
    public async Task DropBeforeAsync(DateTimeOffset time, CancellationToken cancellationToken)
    {
        await using var connection = await database.OpenConnectionAsync(cancellationToken);
        var names = await connection.QueryAsync<string>(new CommandDefinition(
            "select child.relname from pg_inherits join pg_class child on child.oid = inhrelid where inhparent = any(@tables::regclass[])",
            new { tables },
            cancellationToken: cancellationToken));
        foreach (var name in names)
        {
            if (!DateOnly.TryParseExact(name[^DayFormat.Length..], DayFormat, CultureInfo.InvariantCulture, DateTimeStyles.None, out var day) || day >= DayOf(time)) continue;
            await connection.ExecuteAsync(new CommandDefinition($"drop table if exists {name}", cancellationToken: cancellationToken));
            _existing.TryRemove(day, out _);
        }
    }

    /// <summary>Forgets what is known, after another host dropped a partition.</summary>
    public void Forget() => _existing.Clear();

    public static DateOnly DayOf(DateTimeOffset time) => DateOnly.FromDateTime(time.UtcDateTime);

    private static string NameOf(string table, DateOnly day) => $"{table}_{day.ToString(DayFormat, CultureInfo.InvariantCulture)}";
}
