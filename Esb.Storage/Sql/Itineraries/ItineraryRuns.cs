using Esb.Core.Itineraries;

namespace Esb.Storage.Sql.Itineraries;

/// <summary>Where messages are on itineraries, in the table <c>itinerary_run</c>.</summary>
internal sealed class ItineraryRuns(SqlDatabase database) : IItineraryRuns
{
    private static readonly TimeSpan Retention = TimeSpan.FromDays(30);

    public Task SaveAsync(IReadOnlyList<ItineraryRun> runs, CancellationToken cancellationToken) =>
        database.WriteAsync(
            async session =>
            {
                var rows = Of("runs", runs);
                await session.ExecuteAsync(Save(session.Dialect, rows), rows);
                return true;
            },
            cancellationToken
        );

    public async Task<IReadOnlyList<ItineraryRun>> ListAsync(ItineraryQuery query, CancellationToken cancellationToken)
    {
        var conditions = new List<string> { "true" };
        var parameters = new List<(string, object?)> { ("limit", query.Limit) };
        And("itinerary = @itinerary", "itinerary", query.Itinerary);
        And("state = @state", "state", query.State?.ToString());
        And("stop = @stop", "stop", query.Stop);
        And("message_id < @after", "after", query.After);
        return await database.QueryAsync(
            $"select * from itinerary_run where {string.Join(" and ", conditions)} order by message_id desc limit @limit",
            Read,
            cancellationToken,
            [.. parameters]
        );

        void And(string condition, string name, object? value)
        {
            if (value is null)
                return;
            conditions.Add(condition);
            parameters.Add((name, value));
        }
    }

    public Task<ItineraryRun?> FindAsync(Guid message, CancellationToken cancellationToken) =>
        database.FirstAsync("select * from itinerary_run where message_id = @id", Read, cancellationToken, ("id", message));

    public Task RemoveOldAsync(CancellationToken cancellationToken) =>
        database.ExecuteAsync(
            $"delete from itinerary_run where state <> 'Waiting' and changed_at < {StoreClock.Now} - @kept",
            cancellationToken,
            ("kept", Retention)
        );

    /// <summary>The rows of <see cref="Save"/>: of several about one message, the last one.</summary>
    public static SqlRows Of(string name, IEnumerable<ItineraryRun> runs) =>
        SqlRows.Of(
            name,
            runs.Reverse().DistinctBy(run => run.MessageId).ToList(), // a statement changes a row once
            ("r_message", SqlType.Id, run => run.MessageId),
            ("r_itinerary", SqlType.Text, run => run.Itinerary),
            ("r_stop", SqlType.Text, run => run.Stop),
            ("r_state", SqlType.Text, run => run.State.ToString()),
            ("r_conversation", SqlType.Id, run => run.ConversationId),
            ("r_code", SqlType.Text, run => run.Code),
            ("r_reason", SqlType.Text, run => run.Reason)
        );

    /// <summary>Stores where messages are, each in one row; what has ended does not wait again.</summary>
    public static string Save(SqlDialect dialect, SqlRows rows) =>
        $"""
            insert into itinerary_run (message_id, itinerary, stop, state, conversation_id, code, reason, started_at, changed_at)
            select r_message, r_itinerary, r_stop, r_state, r_conversation, r_code, r_reason, clock_timestamp(), clock_timestamp()
            from {dialect.Rows(rows)} where true
            on conflict (message_id) do update set itinerary = excluded.itinerary, stop = excluded.stop, state = excluded.state,
              code = excluded.code, reason = excluded.reason, changed_at = excluded.changed_at
              where itinerary_run.state = 'Waiting' or excluded.state <> 'Waiting'
            """;

    private static ItineraryRun Read(SqlRow row) =>
        new(row.Id("message_id"), row.Text("itinerary"), row.Text("stop"), row.State<ItineraryState>("state"), row.Id("conversation_id"))
        {
            Code = row.TextOrNull("code"),
            Reason = row.TextOrNull("reason"),
            StartedAt = row.Time("started_at"),
            ChangedAt = row.Time("changed_at"),
        };
}
