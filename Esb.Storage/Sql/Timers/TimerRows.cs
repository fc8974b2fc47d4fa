using Esb.Core.Storage;

namespace Esb.Storage.Sql.Timers;

/// <summary>Stores timers within the transaction of a change.</summary>
internal static class TimerRows
{
    /// <param name="name">The name of the rows in the statement.</param>
    /// <param name="timers">The timers.</param>
    /// <param name="claim">How long those that are due at once stay with the host that stores them.</param>
    public static SqlRows Of(string name, IReadOnlyCollection<StoredTimer> timers, TimeSpan claim) =>
        SqlRows.Of(
            name,
            timers,
            ("timer_id", SqlType.Id, timer => timer.Id),
            ("timer_kind", SqlType.Text, timer => timer.Kind),
            ("timer_target", SqlType.Text, timer => timer.Target),
            ("timer_until", SqlType.Time, timer => timer.Until),
            ("timer_delay", SqlType.Duration, timer => timer.Delay ?? TimeSpan.Zero),
            ("timer_claim", SqlType.Duration, timer => timer.Delay == TimeSpan.Zero ? claim : TimeSpan.Zero),
            ("timer_data", SqlType.Text, timer => timer.Data)
        );

    public static string Insert(SqlDialect dialect, SqlRows rows) =>
        $"""
            insert into timer (id, kind, target, due_at, claimed_until, data)
            select timer_id, timer_kind, timer_target, coalesce(timer_until, clock_timestamp() + timer_delay), clock_timestamp() +
              timer_claim, timer_data
            from {dialect.Rows(rows)} where true
            on conflict (id) do update set due_at = excluded.due_at, claimed_until = excluded.claimed_until, data = excluded.data
            """;

    public static StoredTimer Read(SqlRow row) =>
        new(row.Id("id"), row.Text("kind"), row.Text("target"))
        {
            Due = row.Time("due_at"),
            Late = row.Time("now") - row.Time("due_at"),
            Data = row.TextOrNull("data"),
        };
}
