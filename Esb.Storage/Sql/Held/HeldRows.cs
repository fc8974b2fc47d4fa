using Esb.Core.Itineraries;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Storage.Sql.Itineraries;
using Esb.Storage.Sql.Outbox;
using Esb.Storage.Sql.Timers;

namespace Esb.Storage.Sql.Held;

/// <summary>Rows of held messages within a transaction.</summary>
internal sealed class HeldRows(SqlSession session, IBodyCipher cipher)
{
    // The host that stores something works on it at once; another one takes over after this time.
    private static readonly TimeSpan Claim = TimeSpan.FromSeconds(20);

    // SQLite gets rows as JSON, which takes several times the size of a body.
    private const int LargestInRows = 1 << 20;

    private const string Earlier = "select true as found from outbox where owner = @owner limit 1";

    // A row if the step has not held the message before. Of @step and @message_id.
    private const string Note =
        "insert into held_inbox (step, message_id, received_at) values (@step, @message_id, clock_timestamp()) on conflict do nothing "
        + "returning message_id";

    /// <summary>Notes the id of a message; false if the step has held it before.</summary>
    public async Task<bool> NoteAsync(HeldMessage held) =>
        (await session.QueryAsync(Note, _ => true, ("step", held.Step), ("message_id", held.Message.Id))).Count == 1;

    /// <summary>Notes messages, and locks their lines: one round trip for all of it.</summary>
    /// <remarks>All hosts lock in one order, so that none waits for another that waits for it: messages, lines, then timers.</remarks>
    /// <returns>Steps and ids of the messages that were not held before, and the lines by name. Where any message was held before, the
    /// transaction is to be given up.</returns>
    public async Task<(HashSet<(string Step, Guid Id)> New, Dictionary<string, GroupLine> Lines)> OpenLinesAsync(
        IReadOnlyList<GroupedMessage> messages
    )
    {
        var notes = NotesOf(messages.Select(message => message.Held));
        var lines = SqlRows.Of(
            "lines",
            messages.Select(message => (message.Held.Line, message.Held.Step)).Distinct().ToList(),
            ("l_line", SqlType.Text, one => one.Line),
            ("l_step", SqlType.Text, one => one.Step)
        );
        await using var results = await session.QueryManyAsync(
            $"""
            {session.Dialect.LimitSilence};
            {NoteAll(notes)};
            insert into held_line (line, step, count, size, opened_at, changed_at)
            select l_line, l_step, 0, 0, clock_timestamp(), clock_timestamp() from {session.Dialect.Rows(lines)} where true order by l_line
            on conflict (line) do update set changed_at = excluded.changed_at returning line, step, group_id, count, size, expected
            """,
            [],
            notes,
            lines
        );
        await results.ReadAsync(_ => true);
        var isNew = await results.ReadAsync(row => (row.Text("step"), row.Id("message_id")));
        var opened = await results.ReadAsync(row => new GroupLine(
            row.Text("line"),
            row.Text("step"),
            row.IdOrNull("group_id") is { } group
                ? new OpenGroup(group, row.Int("count"), row.Long("size"), row.LongOrNull("expected"))
                : null
        ));
        return ([.. isNew], opened.ToDictionary(line => line.Line));
    }

    /// <summary>Stores messages of groups, and their lines: one round trip for all of it, but for large bodies.</summary>
    public async Task StoreLinesAsync(IReadOnlyList<(HeldMessage Held, Guid Group)> messages, IReadOnlyCollection<GroupLine> lines)
    {
        var dialect = session.Dialect;
        var open = SqlRows.Of(
            "open",
            lines.Where(line => line.Open is not null).ToList(),
            ("g_line", SqlType.Text, line => line.Line),
            ("g_step", SqlType.Text, line => line.Step),
            ("g_group", SqlType.Id, line => line.Open!.Id),
            ("g_count", SqlType.Number, line => line.Open!.Count),
            ("g_size", SqlType.Long, line => line.Open!.Size),
            ("g_expected", SqlType.Long, line => line.Open!.Expected)
        );
        var ended = SqlRows.Of("ended", lines.Where(line => line.Open is null).ToList(), ("g_line", SqlType.Text, line => line.Line));
        var endedTimers = SqlRows.Of("over", lines.SelectMany(line => line.EndedTimers).ToList(), ("o_timer", SqlType.Id, id => id));
        var timers = TimerRows.Of("timers", [.. lines.SelectMany(line => line.Timers)], Claim);
        // One large body makes all of them go one by one: they are numbered in their order.
        var areLarge = messages.Any(message => message.Held.Message.Body.Bytes.Length > LargestInRows);
        // Conditions that take an array, and an insert in place of an update: a plan that was made while the tables were empty stays good.
        (string Sql, SqlRows Rows)[] statements =
        [
            (
                $"""
                insert into held_line (line, step, group_id, count, size, expected, opened_at, changed_at)
                select g_line, g_step, g_group, g_count, g_size, g_expected, clock_timestamp(), clock_timestamp()
                from {dialect.Rows(open)} where true on conflict (line) do update set group_id = excluded.group_id, count = excluded.count,
                  size = excluded.size, expected = excluded.expected,
                  opened_at = case when held_line.group_id = excluded.group_id then held_line.opened_at else excluded.opened_at end
                """,
                open
            ),
            ($"delete from held_line where {dialect.IsAmong("line", $"select g_line from {dialect.Rows(ended)}")}", ended),
            ($"delete from timer where {dialect.IsAmong("id", $"select o_timer from {dialect.Rows(endedTimers)}")}", endedTimers),
            (TimerRows.Insert(dialect, timers), timers),
            InsertAll(areLarge ? [] : messages),
        ];
        var needed = statements.Where(statement => statement.Rows.Count > 0).ToList();
        await session.ExecuteAsync(
            string.Join(";\n", needed.Select(statement => statement.Sql)),
            needed.Select(statement => statement.Rows)
        );
        foreach (var (message, group) in areLarge ? messages : [])
            await session.ExecuteAsync(
                Insert("@group", "null", "null", message.Parent != default),
                ParametersOf(message, [("group", group)])
            );
    }

    private (string Sql, SqlRows Rows) InsertAll(IReadOnlyList<(HeldMessage Held, Guid Group)> messages)
    {
        var rows = SqlRows.Of(
            "held",
            messages,
            [
                ("h_line", SqlType.Text, one => one.Held.Line),
                ("h_step", SqlType.Text, one => one.Held.Step),
                ("h_group", SqlType.Id, one => one.Group),
                ("h_endpoint", SqlType.Text, one => one.Held.Endpoint),
                ("h_trace", SqlType.Text, one => OutboxRows.TraceOf(one.Held.Parent)),
                .. StoredEnvelope.ColumnsOf<(HeldMessage Held, Guid Group)>("h", cipher, one => one.Held.Message),
            ]
        );
        return (
            $"""
            insert into held_message (line, step, group_id, stored_at, endpoint, trace_parent, {StoredEnvelope.Columns})
            select h_line, h_step, h_group, clock_timestamp(), h_endpoint, h_trace, {StoredEnvelope.SelectOf("h")}
            from {session.Dialect.Rows(rows)} where true
            """,
            rows
        );
    }

    // In one order in all hosts.
    private static SqlRows NotesOf(IEnumerable<HeldMessage> messages) =>
        SqlRows.Of(
            "notes",
            messages.OrderBy(held => held.Message.Id).ThenBy(held => held.Step, StringComparer.Ordinal).ToList(),
            ("n_step", SqlType.Text, held => held.Step),
            ("n_message", SqlType.Id, held => held.Message.Id)
        );

    private string NoteAll(SqlRows notes) =>
        "insert into held_inbox (step, message_id, received_at) select n_step, n_message, clock_timestamp() from "
        + $"{session.Dialect.Rows(notes)} where true on conflict do nothing returning step, message_id";

    /// <summary>Adds a message.</summary>
    /// <param name="held">The message.</param>
    /// <param name="sequence">Its number; null without.</param>
    /// <param name="due">Expression for the time at which it is released; <c>null</c> without.</param>
    /// <param name="parameters">The parameters of the expression.</param>
    public Task AddAsync(HeldMessage held, long? sequence = null, string due = "null", params (string Name, object? Value)[] parameters) =>
        session.ExecuteAsync(
            Insert("null", sequence is null ? "null" : "@sequence", due, held.Parent != default),
            ParametersOf(held, [.. Given("sequence", sequence), .. parameters])
        );

    /// <summary>Reads messages; a condition on the table <c>held_message</c> with its order.</summary>
    public Task<List<(long Number, long? Sequence, HeldMessage Held)>> ReadAsync(
        string condition,
        params (string Name, object? Value)[] parameters
    ) =>
        session.QueryAsync(
            $"select * from held_message where {condition}",
            row =>
                (
                    row.Long("number"),
                    row.LongOrNull("sequence"),
                    new HeldMessage(
                        row.Text("step"),
                        row.Text("line"),
                        StoredEnvelope.Read(row, cipher),
                        row.Text("endpoint"),
                        OutboxRows.ParentOf(row.TextOrNull("trace_parent"))
                    )
                ),
            parameters
        );

    public Task DeleteAsync(string condition, params (string Name, object? Value)[] parameters) =>
        session.ExecuteAsync($"delete from held_message where {condition}", parameters);

    public async Task SetTimerAsync(StoredTimer timer)
    {
        var rows = TimerRows.Of("t", [timer], Claim);
        await session.ExecuteAsync(TimerRows.Insert(session.Dialect, rows), rows);
    }

    /// <summary>Removes a timer that is due; false if it is gone, or due later by now.</summary>
    public async Task<bool> TakeDueAsync(Guid timer) =>
        await session.ExecuteAsync("delete from timer where id = @id and due_at <= clock_timestamp()", ("id", timer)) == 1;

    public Task RemoveTimersAsync(params Guid[] timers) =>
        session.ExecuteAsync($"delete from timer where {session.Dialect.IsOneOf("id", "ids")}", ("ids", timers));

    /// <summary>Stores messages for the queue in which they continue, in their order.</summary>
    /// <returns>What was stored, and true if the outbox has earlier messages of the owner.</returns>
    public async Task<(IReadOnlyList<OutboxMessage> Stored, bool FollowsUnpublished)> SendAsync(
        IEnumerable<HeldMessage> messages,
        string queue
    ) => await SendAsync([.. messages.Select(held => OutgoingOf(held, queue))]);

    /// <inheritdoc cref="SendAsync(IEnumerable{HeldMessage}, string)"/>
    public async Task<(IReadOnlyList<OutboxMessage> Stored, bool FollowsUnpublished)> SendAsync(IReadOnlyList<OutboxMessage> outgoing)
    {
        if (outgoing.Count == 0)
            return ([], false);
        var earlier = await session.QueryAsync(Earlier, row => row.Flag("found"), ("owner", outgoing[0].Owner));
        var rows = OutboxRows.Of("outgoing", outgoing, Claim, cipher);
        await session.ExecuteAsync(OutboxRows.Insert(session.Dialect, rows), rows);
        return (outgoing, earlier.Count > 0);
    }

    /// <summary>Stores messages for the queues in which they continue, and where they are on their itineraries: one round trip for all of
    /// it.</summary>
    /// <param name="messages">The messages, each once.</param>
    /// <returns>Steps and ids of the messages that were not held before; owners of whom the outbox has earlier messages. Where any message
    /// was held before, the transaction is to be given up.</returns>
    public async Task<(HashSet<(string Step, Guid Id)> New, HashSet<string> Followed)> PassAsync(
        IReadOnlyList<(PassedMessage Passed, OutboxMessage Outgoing)> messages
    )
    {
        var notes = NotesOf(messages.Select(one => one.Passed.Held));
        var owners = SqlRows.Of(
            "owners",
            messages.Select(one => one.Outgoing.Owner).Distinct().ToList(),
            ("p_owner", SqlType.Text, owner => owner)
        );
        var outgoing = OutboxRows.Of("outgoing", [.. messages.Select(one => one.Outgoing)], Claim, cipher);
        var runs = ItineraryRuns.Of("runs", messages.Select(one => one.Passed.Run));
        await using var results = await session.QueryManyAsync(
            $"""
            {NoteAll(notes)};
            select distinct owner from outbox where owner in (select p_owner from {session.Dialect.Rows(owners)});
            {OutboxRows.Insert(session.Dialect, outgoing)};
            {ItineraryRuns.Save(session.Dialect, runs)}
            """,
            [],
            notes,
            owners,
            outgoing,
            runs
        );
        return (
            [.. await results.ReadAsync(row => (row.Text("step"), row.Id("message_id")))],
            [.. await results.ReadAsync(row => row.Text("owner"))]
        );
    }

    private static string Insert(string group, string sequence, string due, bool hasParent) =>
        $"""
            insert into held_message (line, step, group_id, sequence, due_at, stored_at, endpoint, trace_parent, {StoredEnvelope.Columns})
            values (@line, @step, {group}, {sequence}, {due}, clock_timestamp(), @endpoint, {(
                hasParent ? "@trace_parent" : "null"
            )}, {StoredEnvelope.Values})
            """;

    private (string Name, object? Value)[] ParametersOf(HeldMessage held, IEnumerable<(string, object?)> others) =>
        StoredEnvelope.Parameters(
            held.Message,
            cipher,
            [
                ("line", held.Line),
                ("step", held.Step),
                ("endpoint", held.Endpoint),
                .. Given("trace_parent", OutboxRows.TraceOf(held.Parent)),
                .. others,
            ]
        );

    /// <summary>A held message on its way to the queue in which it continues.</summary>
    public static OutboxMessage OutgoingOf(HeldMessage held, string queue)
    {
        var (process, place) = HeldMessage.Read(held.Step);
        return new OutboxMessage(held.Line, new OutgoingMessage(held.Message, held.Endpoint, process, held.Parent) { Step = place })
        {
            Queue = queue,
        };
    }

    private static IEnumerable<(string, object?)> Given(string name, object? value) => value is null ? [] : [(name, value)];
}
