using Esb.Core.Storage;

namespace Esb.Storage.Sql.Timers;

/// <summary>Timers in the table <c>timer</c>. The clock of the database alone counts.</summary>
internal sealed class TimerStore(SqlDatabase database) : ITimerStore
{
    // More may be due by then, or free again that another host had locked. Those of a few milliseconds share a claim.
    private static readonly TimeSpan Soon = TimeSpan.FromMilliseconds(5);

    private const string Due = $"due_at <= {StoreClock.Now} and {Claims.AreOver}";

    public async Task<ClaimedTimers> ClaimAsync(IReadOnlyList<string> kinds, int limit, TimeSpan claim, CancellationToken cancellationToken)
    {
        // What waits is asked first: most of the time nothing is due, and a query that only reads costs the least.
        var names = string.Join(", ", kinds.Select(kind => $"'{kind}'")); // constants of the program
        var (isDue, next) = await database.ReadAsync(session => FindNextAsync(session, names), cancellationToken);
        if (!isDue)
            return new ClaimedTimers([], next);
        var claimed = await database.TransactAsync(
            session =>
                session.QueryAsync(
                    $"""
                    update timer set claimed_until = clock_timestamp() + @claim
                    where {session.Dialect.IsAmong("id", DueOf(names, session.Dialect))}
                    returning id, kind, target, due_at, data, clock_timestamp() as now
                    """,
                    TimerRows.Read,
                    ("claim", claim),
                    ("limit", limit),
                    Claims.Parameter
                ),
            cancellationToken
        );
        return new ClaimedTimers([.. claimed.OrderBy(timer => timer.Due)], claimed.Count == limit ? TimeSpan.Zero : Soon);
    }

    public Task SetAsync(IReadOnlyList<StoredTimer> timers, CancellationToken cancellationToken)
    {
        var rows = TimerRows.Of("t", timers, TimeSpan.Zero);
        return database.TransactAsync(
            async session =>
            {
                await session.ExecuteAsync(TimerRows.Insert(session.Dialect, rows), rows);
                return true;
            },
            cancellationToken
        );
    }

    public async Task<bool> PostponeAsync(Guid id, TimeSpan delay, CancellationToken cancellationToken) =>
        await database.ExecuteAsync(
            "update timer set due_at = clock_timestamp() + @delay, claimed_until = due_at where id = @id",
            cancellationToken,
            ("id", id),
            ("delay", delay)
        ) == 1;

    public Task ReleaseAsync(string leases, CancellationToken cancellationToken) =>
        database.ExecuteAsync(
            """
            update timer set claimed_until = clock_timestamp(), due_at = case when kind = @leases then clock_timestamp() else due_at end
            where claimed_until > clock_timestamp() or kind = @leases
            """,
            cancellationToken,
            ("leases", leases)
        );

    public Task RemoveAsync(IReadOnlyList<Guid> ids, CancellationToken cancellationToken) =>
        database.ExecuteAsync(
            $"delete from timer where {database.Dialect.IsOneOf("id", "ids")}",
            cancellationToken,
            ("ids", ids.ToArray())
        );

    private static string DueOf(string kinds, SqlDialect dialect) =>
        $"select id from timer where {Due} and kind in ({kinds}) order by due_at limit @limit{dialect.ForUpdateSkipLocked}";

    private static async Task<(bool IsDue, TimeSpan? Next)> FindNextAsync(SqlSession session, string kinds)
    {
        var first = await session.FirstAsync<(DateTimeOffset Due, DateTimeOffset Now)?>(
            $"select due_at, clock_timestamp() as now from timer where {Claims.AreOver} and kind in ({kinds}) order by due_at limit 1",
            row => (row.Time("due_at"), row.Time("now")),
            Claims.Parameter
        );
        return first is not { } found ? (false, null)
            : found.Due <= found.Now ? (true, null)
            : (false, found.Due - found.Now);
    }
}
