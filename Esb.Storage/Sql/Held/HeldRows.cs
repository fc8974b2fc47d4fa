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

    /// <summary>Adds a message to the group of its line, which is open or begins: one round trip for all of it.</summary>
    /// <returns>The group with the message; null if the step has held it before: then the transaction is to be given up.</returns>
    public async Task<OpenGroup?> JoinAsync(HeldMessage held, Guid newGroup, long? expected)
    {
        var isNamed = expected is not null;
        await using var results = await session.QueryManyAsync(
            $"""
            {Note};
            insert into held_line (line, step, group_id, count, size, expected, opened_at, changed_at)
            values (@line, @step, @group, 1, @size, {(isNamed ? "@expected" : "null")}, clock_timestamp(), clock_timestamp())
            on conflict (line) do update set count = held_line.count + 1, size = held_line.size + excluded.size,
              expected = coalesce(excluded.expected, held_line.expected), changed_at = excluded.changed_at
            returning group_id, count, size, expected;
            {Insert("(select group_id from held_line where line = @line)", "null", "null", held.Parent != default)}
            """,
            ParametersOf(held, [("group", newGroup), ("size", (long)held.Message.Body.Bytes.Length), .. Given("expected", expected)])
        );
        var isNew = (await results.ReadAsync(_ => true)).Count == 1;
        var group = await results.FirstAsync(row => new OpenGroup(
            row.Id("group_id"),
            row.Int("count"),
            row.Long("size"),
            row.LongOrNull("expected")
        ));
        return isNew ? group : null;
    }

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
        var notes = SqlRows.Of(
            "notes",
            messages,
            ("n_step", SqlType.Text, one => one.Passed.Held.Step),
            ("n_message", SqlType.Id, one => one.Passed.Held.Message.Id)
        );
        var owners = SqlRows.Of(
            "owners",
            messages.Select(one => one.Outgoing.Owner).Distinct().ToList(),
            ("p_owner", SqlType.Text, owner => owner)
        );
        var outgoing = OutboxRows.Of("outgoing", [.. messages.Select(one => one.Outgoing)], Claim, cipher);
        var runs = ItineraryRuns.Of("runs", messages.Select(one => one.Passed.Run));
        await using var results = await session.QueryManyAsync(
            $"""
            insert into held_inbox (step, message_id, received_at) select n_step, n_message, clock_timestamp() from {session.Dialect.Rows(
                notes
            )} where true on conflict do nothing returning step, message_id;
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

/// <summary>A group that gathers messages.</summary>
/// <param name="Id">The id.</param>
/// <param name="Count">Its messages.</param>
/// <param name="Size">Bytes of their bodies.</param>
/// <param name="Expected">The number that makes it complete; null if none was named yet.</param>
internal sealed record OpenGroup(Guid Id, int Count, long Size, long? Expected);
