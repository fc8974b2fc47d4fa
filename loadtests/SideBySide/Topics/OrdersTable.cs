using System.Diagnostics;
using System.Globalization;
using Npgsql;

namespace SideBySide.Topics;

/// <summary>Where orders arrive: counts them, and compares every one with what was published.</summary>
internal sealed class OrdersTable(string database) : IAsyncDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);

    private const string Arrived =
        "arrived as (select n, split_part(split_part(body, '\"', 4), '-', 2)::int as number, body from orders_in)";

    private readonly NpgsqlDataSource _database = NpgsqlDataSource.Create(database);

    public Task ClearAsync(CancellationToken cancellationToken) => ExecuteAsync("truncate orders_in restart identity", cancellationToken);

    /// <summary>Rows that were begun so far: costs nothing, however many there are.</summary>
    public Task<long> BegunAsync(CancellationToken cancellationToken) =>
        NumberAsync("select case when is_called then last_value else 0 end from orders_in_n_seq", cancellationToken);

    /// <summary>Waits until so many rows are there, or none has come for a while.</summary>
    public async Task WaitAsync(int count, CancellationToken cancellationToken)
    {
        var (before, last) = (0L, Stopwatch.GetTimestamp());
        while (before < count && Stopwatch.GetElapsedTime(last) < Patience)
        {
            await Task.Delay(100, cancellationToken);
            var now = await BegunAsync(cancellationToken);
            if (now >= count)
                now = await NumberAsync("select count(*) from orders_in", cancellationToken); // not all need be committed
            if (now > before)
                (before, last) = (now, Stopwatch.GetTimestamp());
        }
    }

    /// <summary>The time from the first row to the last.</summary>
    public async Task<TimeSpan> DurationAsync(CancellationToken cancellationToken) =>
        TimeSpan.FromMicroseconds(
            await NumberAsync(
                "select (extract(epoch from max(received_at) - min(received_at)) * 1e6)::bigint from orders_in",
                cancellationToken
            )
        );

    /// <summary>What is lost, foreign, changed or, where it matters, out of order; null where nothing is.</summary>
    public async Task<string?> FlawAsync(string run, int count, bool isOrdered, CancellationToken cancellationToken)
    {
        var lost = await NumberAsync(
            $"with {Expected(run, count)}, {Arrived} select count(*) from expected left join arrived using (number) where "
                + $"arrived.body is distinct from expected.body",
            cancellationToken
        );
        if (lost > 0)
            return $"{lost} of {count} orders did not arrive as they were sent";
        var extra = await NumberAsync("select count(*) from orders_in", cancellationToken) - count;
        if (extra != 0)
            return $"{extra} rows too many";
        if (!isOrdered)
            return null;
        var late = await NumberAsync(
            $"with {Arrived} select count(*) from (select number < lag(number) over (order by n) as late from arrived) o where late",
            cancellationToken
        );
        return late == 0 ? null : $"{late} of {count} orders are out of order";
    }

    public ValueTask DisposeAsync() => _database.DisposeAsync();

    // The same bytes as OrderPublisher.Body.
    private static string Expected(string run, int count) =>
        string.Create(
            CultureInfo.InvariantCulture,
            $"expected as (select number, rpad('{{\"order\":\"{run}-' || number || '\",\"fill\":\"', "
                + $"{OrderPublisher.BodyBytes - 2}, 'x') || '\"}}' as body from generate_series(1, {count}) number)"
        );

    private async Task ExecuteAsync(string sql, CancellationToken cancellationToken)
    {
        await using var command = _database.CreateCommand(sql);
        await command.ExecuteNonQueryAsync(cancellationToken);
    }

    private async Task<long> NumberAsync(string sql, CancellationToken cancellationToken)
    {
        await using var command = _database.CreateCommand(sql);
        command.CommandTimeout = 0; // millions of orders take their time
        return await command.ExecuteScalarAsync(cancellationToken) is long number ? number : 0;
    }
}
