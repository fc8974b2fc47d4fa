using System.Collections.Concurrent;
using System.Globalization;
using System.Text;
using Dapper;
using Npgsql;

namespace Esb.Storage.Postgres.Audit;

/// <summary>Makes the daily partitions of tables, some days ahead, and drops old ones. Thread-safe.</summary>
/// <param name="database">The database.</param>
/// <param name="clock">Decides what is old.</param>
/// <param name="maker">The function that makes a day of the tables, where they have more of their own than rows; null for plain ones.</param>
/// <param name="tables">The tables, which are kept equally long.</param>
internal sealed class PostgresPartitions(NpgsqlDataSource database, PostgresClock clock, string? maker, params string[] tables)
{
    private const int DaysAhead = 7;
    private const long PartitionLock = 0x45_53_42_00_02;
    private const string DayFormat = "yyyyMMdd";

    // Who waits for a table that somebody reads makes all wait behind him who insert, and so does who has dropped a day and not committed, because the folder of the anchors does not answer:
    // not for long, it is tried again.
    private const string NotForLong = "select set_config('lock_timeout', '500ms', true), set_config('idle_in_transaction_session_timeout', '5s', true);";

    private readonly ConcurrentDictionary<DateOnly, bool> _existing = new();

    /// <summary>A table without partitions, and the column that says with which day its rows go; null where there is none.</summary>
    public (string Table, string Column)? Companion { get; init; }

    /// <summary>Today, yesterday and the days ahead: making one while it is needed would make everybody wait.</summary>
    public Task MakeAheadAsync(DateTimeOffset now, CancellationToken cancellationToken) =>
        MakeAsync(Enumerable.Range(-1, DaysAhead + 2).Select(days => DayOf(now.AddDays(days))), cancellationToken);

    /// <summary>Makes those of the days that are not known to exist.</summary>
    public async Task MakeAsync(IEnumerable<DateOnly> days, CancellationToken cancellationToken)
    {
        var unknown = days.Distinct().Where(day => !_existing.ContainsKey(day)).ToList();
        if (unknown.Count == 0) return;

        await using var connection = await database.OpenConnectionAsync(cancellationToken);
        var existing = await ListAsync(connection, cancellationToken);
        var missing = unknown.Where(day => !tables.All(table => existing.Contains(NameOf(table, day)))).ToList();
        foreach (var day in unknown.Except(missing)) _existing[day] = true;
        if (missing.Count == 0) return; // a role that may not make tables gets by

        var sql = new StringBuilder().Append(CultureInfo.InvariantCulture, $"select pg_advisory_xact_lock({PartitionLock});{NotForLong}");
        foreach (var day in missing) AppendMaking(sql, day);
        await using var transaction = await connection.BeginTransactionAsync(cancellationToken);
        await connection.ExecuteAsync(new CommandDefinition(sql.ToString(), cancellationToken: cancellationToken));
        await transaction.CommitAsync(cancellationToken);
        foreach (var day in missing) _existing[day] = true;
    }

    /// <summary>Drops the days that ended before a time: by the clock of the database, where that of this host is ahead of it.</summary>
    /// <param name="moment">The time.</param>
    /// <param name="beforeDrop">Hears of each day that can be dropped before it is gone for good, and may keep it by throwing.</param>
    /// <param name="cancellationToken">Ends it.</param>
    public async Task DropBeforeAsync(DateTimeOffset moment, Action<DateOnly>? beforeDrop, CancellationToken cancellationToken)
    {
        await using var connection = await database.OpenConnectionAsync(cancellationToken);
        var first = DayOf(moment - await clock.AdvanceAsync(connection, cancellationToken));
        var names = await ListAsync(connection, cancellationToken);
        foreach (var day in names.Select(TryReadDay).OfType<DateOnly>().Distinct().Where(day => day < first).Order())
        {
            await using var transaction = await connection.BeginTransactionAsync(cancellationToken);
            await DropAsync(connection, day, cancellationToken);
            beforeDrop?.Invoke(day);
            await transaction.CommitAsync(cancellationToken);
        }
    }

    /// <summary>Drops one day, if its first table has as many rows as somebody thinks: nobody else can add one meanwhile.</summary>
    /// <param name="day">The day.</param>
    /// <param name="rows">How many.</param>
    /// <param name="beforeDrop">Called when it can be dropped, before it is gone for good; keeps it by throwing.</param>
    /// <param name="cancellationToken">Ends it.</param>
    /// <returns>Whether it was dropped.</returns>
    public async Task<bool> TryDropAsync(DateOnly day, long rows, Action beforeDrop, CancellationToken cancellationToken)
    {
        await using var connection = await database.OpenConnectionAsync(cancellationToken);
        await using var transaction = await connection.BeginTransactionAsync(cancellationToken);
        var name = NameOf(tables[0], day);
        // Readers go on: one that has the table, and waits for this day of it, would be waited for by the drop, which needs the table.
        await connection.ExecuteAsync(new CommandDefinition($"lock table {name} in share mode", cancellationToken: cancellationToken));
        var found = await connection.ExecuteScalarAsync<long>(new CommandDefinition($"select count(*) from {name}", commandTimeout: 0, cancellationToken: cancellationToken));
        if (found != rows) return false;

        await DropAsync(connection, day, cancellationToken);
        beforeDrop();
        await transaction.CommitAsync(cancellationToken);
        return true;
    }

    /// <summary>The days that there are, oldest first.</summary>
    public async Task<IReadOnlyList<DateOnly>> ListDaysAsync(CancellationToken cancellationToken)
    {
        await using var connection = await database.OpenConnectionAsync(cancellationToken);
        return [.. (await ListAsync(connection, cancellationToken)).Select(TryReadDay).OfType<DateOnly>().Distinct().Order()];
    }

    /// <summary>Forgets what is known, after another host dropped a partition.</summary>
    public void Forget() => _existing.Clear();

    public static DateOnly DayOf(DateTimeOffset time) => DateOnly.FromDateTime(time.UtcDateTime);

    /// <summary>When a day begins.</summary>
    public static DateTime StartOf(DateOnly day) => day.ToDateTime(TimeOnly.MinValue, DateTimeKind.Utc);

    private async Task<HashSet<string>> ListAsync(NpgsqlConnection connection, CancellationToken cancellationToken) =>
        [.. await connection.QueryAsync<string>(new CommandDefinition(
            "select child.relname from pg_inherits join pg_class child on child.oid = inhrelid where inhparent = any(@tables::regclass[])",
            new { tables },
            cancellationToken: cancellationToken))];

    // All or nothing: a day that is half there looks as if somebody had changed it.
    private async Task DropAsync(NpgsqlConnection connection, DateOnly day, CancellationToken cancellationToken)
    {
        var sql = $"{NotForLong}drop table if exists {string.Join(", ", tables.Select(table => NameOf(table, day)))}";
        if (Companion is (var companion, var column))
            sql += string.Create(CultureInfo.InvariantCulture, $"; delete from {companion} where {column} >= '{day:yyyy-MM-dd} 00:00+00' and {column} < '{day.AddDays(1):yyyy-MM-dd} 00:00+00'");
        await connection.ExecuteAsync(new CommandDefinition(sql, cancellationToken: cancellationToken));
        _existing.TryRemove(day, out _);
    }

    private void AppendMaking(StringBuilder sql, DateOnly day)
    {
        if (maker is not null)
        {
            sql.Append(CultureInfo.InvariantCulture, $"select {maker}('{day:yyyy-MM-dd}');");
            return;
        }

        foreach (var table in tables)
            sql.Append(CultureInfo.InvariantCulture, $"create table if not exists {NameOf(table, day)} partition of {table} for values from ('{day:yyyy-MM-dd} 00:00+00') to ('{day.AddDays(1):yyyy-MM-dd} 00:00+00');");
    }

    private static DateOnly? TryReadDay(string name) =>
        name.Length >= DayFormat.Length && DateOnly.TryParseExact(name[^DayFormat.Length..], DayFormat, CultureInfo.InvariantCulture, DateTimeStyles.None, out var day) ? day : null;

    private static string NameOf(string table, DateOnly day) => $"{table}_{day.ToString(DayFormat, CultureInfo.InvariantCulture)}";
}
