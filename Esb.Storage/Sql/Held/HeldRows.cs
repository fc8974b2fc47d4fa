using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Storage.Sql.Outbox;
using Esb.Storage.Sql.Timers;

namespace Esb.Storage.Sql.Held;

/// <summary>Rows of held messages within a transaction.</summary>
internal sealed class HeldRows(SqlSession session, IBodyCipher cipher)
{
    // The host that stores something works on it at once; another one takes over after this time.
    private static readonly TimeSpan Claim = TimeSpan.FromSeconds(20);

    /// <summary>Notes the id of a message; false if the step has held it before.</summary>
    public async Task<bool> NoteAsync(HeldMessage held) =>
        await session.ExecuteAsync(
            "insert into held_inbox (step, message_id, received_at) values (@step, @id, clock_timestamp()) on conflict do nothing",
            ("step", held.Step),
            ("id", held.Message.Id)
        ) == 1;

    /// <summary>Adds a message.</summary>
    /// <param name="held">The message.</param>
    /// <param name="group">Its group; null without.</param>
    /// <param name="sequence">Its number; null without.</param>
    /// <param name="due">Expression for the time at which it is released; <c>null</c> without.</param>
    /// <param name="parameters">The parameters of the expression.</param>
    public Task AddAsync(
        HeldMessage held,
        Guid? group = null,
        long? sequence = null,
        string due = "null",
        params (string Name, object? Value)[] parameters
    ) =>
        session.ExecuteAsync(
            $"""
            insert into held_message (line, step, group_id, sequence, due_at, stored_at, endpoint, trace_parent, {StoredEnvelope.Columns})
            values (@line, @step, {(group is null ? "null" : "@group")}, {(
                sequence is null ? "null" : "@sequence"
            )}, {due}, clock_timestamp(), @endpoint, {(held.Parent == default ? "null" : "@trace_parent")}, {StoredEnvelope.Values})
            """,
            StoredEnvelope.Parameters(
                held.Message,
                cipher,
                [
                    ("line", held.Line),
                    ("step", held.Step),
                    ("endpoint", held.Endpoint),
                    .. Given("group", group),
                    .. Given("sequence", sequence),
                    .. Given("trace_parent", OutboxRows.TraceOf(held.Parent)),
                    .. parameters,
                ]
            )
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
        var earlier = await session.QueryAsync(
            "select true as found from outbox where owner = @owner limit 1",
            row => row.Flag("found"),
            ("owner", outgoing[0].Owner)
        );
        var rows = OutboxRows.Of("outgoing", outgoing, Claim, cipher);
        await session.ExecuteAsync(OutboxRows.Insert(session.Dialect, rows), rows);
        return (outgoing, earlier.Count > 0);
    }

    private static OutboxMessage OutgoingOf(HeldMessage held, string queue)
    {
        var (process, place) = HeldMessage.Read(held.Step);
        return new OutboxMessage(held.Line, new OutgoingMessage(held.Message, held.Endpoint, process, held.Parent) { Step = place })
        {
            Queue = queue,
        };
    }

    private static IEnumerable<(string, object?)> Given(string name, object? value) => value is null ? [] : [(name, value)];
}
