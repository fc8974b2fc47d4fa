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

    private const string Earlier = "select true as found from outbox where owner = @owner limit 1";

    // A row if the step has not held the message before. Of @step and @message_id.
    private const string Note =
        "insert into held_inbox (step, message_id, received_at) values (@step, @message_id, clock_timestamp()) on conflict do nothing "
        + "returning message_id";

    /// <summary>Notes the id of a message; false if the step has held it before.</summary>
    public async Task<bool> NoteAsync(HeldMessage held) =>
        (await session.QueryAsync(Note, _ => true, ("step", held.Step), ("message_id", held.Message.Id))).Count == 1;

    /// <summary>Notes messages, and reads the open groups of their lines, which stay locked: one round trip for all of it.</summary>
    /// <returns>Steps and ids of the messages that were not held before, and the lines by name. Where any message was held before, the
    /// transaction is to be given up.</returns>
    public async Task<(HashSet<(string Step, Guid Id)> New, Dictionary<string, GroupLine> Lines)> OpenLinesAsync(
        IReadOnlyList<GroupedMessage> messages
    )
    {
        var notes = NotesOf(messages.Select(message => message.Held));
        var names = messages.Select(message => (message.Held.Line, message.Held.Step)).Distinct().ToList();
        var lines = SqlRows.Of("lines", names, ("l_line", SqlType.Text, one => one.Line));
        await using var results = await session.QueryManyAsync(
            $"""
            {NoteAll(notes)};
            select line, group_id, count, size, expected from held_line where line in (select l_line from {session.Dialect.Rows(lines)})
            order by line{session.Dialect.ForUpdate}
            """,
            [],
            notes,
            lines
        );
        var isNew = await results.ReadAsync(row => (row.Text("step"), row.Id("message_id")));
        var open = await results.ReadAsync(row =>
            (
                Line: row.Text("line"),
                Group: new OpenGroup(row.Id("group_id"), row.Int("count"), row.Long("size"), row.LongOrNull("expected"))
            )
        );
        var groups = open.ToDictionary(one => one.Line, one => one.Group);
        return ([.. isNew], names.ToDictionary(one => one.Line, one => new GroupLine(one.Line, one.Step, groups.GetValueOrDefault(one.Line))));
    }

    /// <summary>Stores messages of groups, and what they made of their lines: one round trip for all of it.</summary>
    /// <returns>False if another host has begun a group of a line meanwhile: then the transaction is to be given up.</returns>
    public async Task<bool> StoreLinesAsync(IEnumerable<(HeldMessage Held, Guid Group)> messages, IReadOnlyCollection<GroupLine> lines)
    {
        var dialect = session.Dialect;
        var begun = LinesOf("begun", lines.Where(line => line is { WasOpen: false, Open: not null }));
        var kept = LinesOf("kept", lines.Where(line => line is { WasOpen: true, Open: not null }));
        var ended = LinesOf("ended", lines.Where(line => line is { WasOpen: true, Open: null }));
        var timers = TimerRows.Of("timers", [.. lines.SelectMany(line => line.Timers)], Claim);
        var endedTimers = SqlRows.Of("over", lines.SelectMany(line => line.EndedTimers).ToList(), ("o_timer", SqlType.Id, id => id));
        var held = SqlRows.Of(
            "held",
            messages.ToList(),
            [
                ("h_line", SqlType.Text, one => one.Held.Line),
                ("h_step", SqlType.Text, one => one.Held.Step),
                ("h_group", SqlType.Id, one => one.Group),
                ("h_endpoint", SqlType.Text, one => one.Held.Endpoint),
                ("h_trace", SqlType.Text, one => OutboxRows.TraceOf(one.Held.Parent)),
                .. StoredEnvelope.ColumnsOf<(HeldMessage Held, Guid Group)>("h", cipher, one => one.Held.Message),
            ]
        );
        var statements = new List<(string Sql, SqlRows Rows)>
        {
            (
                $"""
                insert into held_line (line, step, group_id, count, size, expected, opened_at, changed_at)
                select g_line, g_step, g_group, g_count, g_size, g_expected, clock_timestamp(), clock_timestamp()
                from {dialect.Rows(begun)} where true order by g_line on conflict (line) do nothing returning line
                """,
                begun
            ),
            (
                $"""
                update held_line set group_id = g_group, count = g_count, size = g_size, expected = g_expected,
                  opened_at = case when g_is_new then clock_timestamp() else opened_at end, changed_at = clock_timestamp()
                from {dialect.Rows(kept)} where line = g_line
                """,
                kept
            ),
            ($"delete from held_line where line in (select g_line from {dialect.Rows(ended)})", ended),
            ($"delete from timer where id in (select o_timer from {dialect.Rows(endedTimers)})", endedTimers),
            (TimerRows.Insert(dialect, timers), timers),
            (
                $"""
                insert into held_message (line, step, group_id, stored_at, endpoint, trace_parent, {StoredEnvelope.Columns})
                select h_line, h_step, h_group, clock_timestamp(), h_endpoint, h_trace, {StoredEnvelope.SelectOf("h")}
                from {dialect.Rows(held)} where true
                """,
                held
            ),
        };
        statements.RemoveAll(statement => statement.Rows.Count == 0);
        await using var results = await session.QueryManyAsync(
            string.Join(";\n", statements.Select(statement => statement.Sql)),
            [],
            [.. statements.Select(statement => statement.Rows)]
        );
        return begun.Count == 0 || (await results.ReadAsync(_ => true)).Count == begun.Count;
    }

    private static SqlRows LinesOf(string name, IEnumerable<GroupLine> lines) =>
        SqlRows.Of(
            name,
            lines.ToList(),
            ("g_line", SqlType.Text, line => line.Line),
            ("g_step", SqlType.Text, line => line.Step),
            ("g_group", SqlType.Id, line => line.Open?.Id),
            ("g_count", SqlType.Number, line => line.Open?.Count),
            ("g_size", SqlType.Long, line => line.Open?.Size),
            ("g_expected", SqlType.Long, line => line.Open?.Expected),
            ("g_is_new", SqlType.Flag, line => line.IsNew)
        );

    // In one order in all hosts, so that two that note the same messages wait for one another, and not each for the other.
    private static SqlRows NotesOf(IEnumerable<HeldMessage> messages) =>
        SqlRows.Of(
            "notes",
            messages.OrderBy(held => held.Message.Id).ToList(),
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
