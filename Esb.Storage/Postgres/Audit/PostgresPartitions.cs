using System.Collections.Concurrent;
using System.Globalization;
using System.Text;
using Dapper;
using Npgsql;

namespace Esb.Storage.Postgres.Audit;

/// <summary>Creates the daily partitions of tables, some days ahead, and drops old ones. Thread-safe.</summary>
/// <param name="database">The database.</param>
/// <param name="clock">The clock that decides which days are old.</param>
/// <param name="maker">The SQL function that creates a day of the tables, if their partitions need more than rows; null for those of
/// <c>make_store_day</c> and <c>drop_store_day</c>, which run as the owner: a role that may not create tables is enough.</param>
/// <param name="tables">The tables, which have the same retention.</param>
internal sealed class PostgresPartitions(NpgsqlDataSource database, PostgresClock clock, string? maker, params string[] tables)
{
    private const int DaysAhead = 7;
    private const long PartitionLock = 0x45_53_42_00_02;
    private const string DayFormat = "yyyyMMdd";

    // A session that waits for a table that is being read blocks all inserts behind it. So does a session that has dropped a day and cannot
    // commit, because the folder of the anchors does not respond. Both waits are short, and the work is retried.
    private const string NotForLong =
        "select set_config('lock_timeout', '500ms', true), set_config('idle_in_transaction_session_timeout', '5s', true);";

    private readonly ConcurrentDictionary<DateOnly, bool> _existing = new();

    /// <summary>A table without partitions, and the column that assigns its rows to a day; null if not needed.</summary>
    public (string Table, string Column)? Companion { get; init; }

    /// <summary>Counts what the rows of the first table hold.</summary>
    public string Counting { get; init; } = "count(*)";

    /// <summary>Creates the partitions of today, yesterday and the days ahead: creating one when it is needed would block all
    /// writers.</summary>
    public Task MakeAheadAsync(DateTimeOffset now, CancellationToken cancellationToken) =>
        MakeAsync(Enumerable.Range(-1, DaysAhead + 2).Select(days => DayOf(now.AddDays(days))), cancellationToken);

    /// <summary>Creates the partitions of days that are not known to exist.</summary>
    public async Task MakeAsync(IEnumerable<DateOnly> days, CancellationToken cancellationToken)
    {
        var unknown = days.Distinct().Where(day => !_existing.ContainsKey(day)).ToList();
        if (unknown.Count == 0)
            return;

        await using var connection = await database.OpenConnectionAsync(cancellationToken);
        var existing = await ListAsync(connection, cancellationToken);
        var missing = unknown.Where(day => !tables.All(table => existing.Contains(NameOf(table, day)))).ToList();
        foreach (var day in unknown.Except(missing))
            _existing[day] = true;
        if (missing.Count == 0)
            return; // sufficient for a role that may not create tables

        var sql = new StringBuilder().Append(CultureInfo.InvariantCulture, $"select pg_advisory_xact_lock({PartitionLock});{NotForLong}");
        foreach (var day in missing)
            AppendMaking(sql, day);
        await using var transaction = await connection.BeginTransactionAsync(cancellationToken);
        await connection.ExecuteAsync(new CommandDefinition(sql.ToString(), cancellationToken: cancellationToken));
        await transaction.CommitAsync(cancellationToken);
        foreach (var day in missing)
            _existing[day] = true;
    }

    /// <summary>Drops the days that ended before a time: by the clock of the database, if the clock of this host is ahead of it.</summary>
    /// <param name="moment">The time.</param>
    /// <param name="beforeDrop">Called for each day that can be dropped, before the drop is committed; keeps the day by throwing.</param>
    /// <param name="cancellationToken">Cancels the operation.</param>
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

    /// <summary>Drops one day, if its first table has what is expected: concurrent inserts are locked out meanwhile.</summary>
    /// <param name="day">The day.</param>
    /// <param name="expected">The expected number, as <see cref="Counting"/> counts.</param>
    /// <param name="beforeDrop">Called when the day can be dropped, before the drop is committed; keeps the day by throwing.</param>
    /// <param name="cancellationToken">Cancels the operation.</param>
    /// <returns>True if the day was dropped.</returns>
    public async Task<bool> TryDropAsync(DateOnly day, long expected, Action beforeDrop, CancellationToken cancellationToken)
    {
        await using var connection = await database.OpenConnectionAsync(cancellationToken);
        await using var transaction = await connection.BeginTransactionAsync(cancellationToken);
        var name = NameOf(tables[0], day);
        // Readers continue: a reader that holds the table and waits for this partition would block the drop, which needs the table.
        await connection.ExecuteAsync(new CommandDefinition($"lock table {name} in share mode", cancellationToken: cancellationToken));
        var found = await connection.ExecuteScalarAsync<long>(
            new CommandDefinition($"select {Counting} from {name}", commandTimeout: 0, cancellationToken: cancellationToken)
        );
        if (found != expected)
            return false;

        await DropAsync(connection, day, cancellationToken);
        beforeDrop();
        await transaction.CommitAsync(cancellationToken);
        return true;
    }

    /// <summary>Lists the existing days, oldest first.</summary>
    public async Task<IReadOnlyList<DateOnly>> ListDaysAsync(CancellationToken cancellationToken)
    {
        await using var connection = await database.OpenConnectionAsync(cancellationToken);
        return [.. (await ListAsync(connection, cancellationToken)).Select(TryReadDay).OfType<DateOnly>().Distinct().Order()];
    }

    /// <summary>Clears the cache of known days, after another host dropped a partition.</summary>
    public void Forget() => _existing.Clear();

    public static DateOnly DayOf(DateTimeOffset time) => DateOnly.FromDateTime(time.UtcDateTime);

    /// <summary>The start of a day.</summary>
    public static DateTime StartOf(DateOnly day) => day.ToDateTime(TimeOnly.MinValue, DateTimeKind.Utc);

    private async Task<HashSet<string>> ListAsync(NpgsqlConnection connection, CancellationToken cancellationToken) =>
        [
            .. await connection.QueryAsync<string>(
                new CommandDefinition(
                    "select child.relname from pg_inherits join pg_class child on child.oid = inhrelid where inhparent = "
                        + "any(@tables::regclass[])",
                    new { tables },
                    cancellationToken: cancellationToken
                )
            ),
        ];

    // All tables or none: a partly dropped day looks like tampering.
    private async Task DropAsync(NpgsqlConnection connection, DateOnly day, CancellationToken cancellationToken)
    {
        var sql =
            NotForLong
            + (
                maker is null
                    ? string.Concat(
                        tables.Select(table =>
                            string.Create(CultureInfo.InvariantCulture, $"select drop_store_day('{table}', '{day:yyyy-MM-dd}');")
                        )
                    )
                    : $"drop table if exists {string.Join(", ", tables.Select(table => NameOf(table, day)))}"
            );
        if (Companion is (var companion, var column))
            sql += string.Create(
                CultureInfo.InvariantCulture,
                $"; delete from {companion} where {column} >= '{day:yyyy-MM-dd} 00:00+00' and {column} < "
                    + $"'{day.AddDays(1):yyyy-MM-dd} 00:00+00'"
            );
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
            sql.Append(CultureInfo.InvariantCulture, $"select make_store_day('{table}', '{day:yyyy-MM-dd}');");
    }

    private static DateOnly? TryReadDay(string name) =>
        name.Length >= DayFormat.Length
        && DateOnly.TryParseExact(name[^DayFormat.Length..], DayFormat, CultureInfo.InvariantCulture, DateTimeStyles.None, out var day)
            ? day
            : null;

    private static string NameOf(string table, DateOnly day) => $"{table}_{day.ToString(DayFormat, CultureInfo.InvariantCulture)}";
}
