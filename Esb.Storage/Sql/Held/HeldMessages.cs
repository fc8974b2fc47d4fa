using System.Globalization;
using Esb.Core.Messages;
using Esb.Core.Storage;

namespace Esb.Storage.Sql.Held;

/// <summary>Held messages in the tables <c>held_line</c>, <c>held_message</c> and <c>held_inbox</c>. A change notes the
/// message and locks its line before it changes anything else, so that two changes of a line follow each other.</summary>
internal sealed partial class HeldMessages(SqlDatabase database) : IHeldMessages
{
    private static readonly TimeSpan InboxRetention = TimeSpan.FromDays(7);
    private static readonly TimeSpan SequenceRetention = TimeSpan.FromDays(365);

    public Task<bool> HoldUntilAsync(HeldMessage message, TimeSpan? delay, DateTimeOffset? until, CancellationToken cancellationToken) =>
        InTransactionAsync(
            async (rows, _) =>
            {
                if (!await rows.NoteAsync(message))
                    return false;
                if (until is { } instant)
                    await rows.AddAsync(message, due: "@until", parameters: ("until", instant));
                else
                    await rows.AddAsync(message, due: "clock_timestamp() + @delay", parameters: ("delay", delay ?? TimeSpan.Zero));
                var timer = MessageIds.Derive(message.Message.Id, $"held {message.Step}");
                await rows.SetTimerAsync(
                    new StoredTimer(timer, HeldTimers.Delay, message.Line)
                    {
                        Delay = until is null ? delay : null,
                        Until = until,
                        Data = message.Step,
                    }
                );
                return true;
            },
            cancellationToken
        );

    public Task<SequenceChange> ReleaseDueAsync(StoredTimer timer, string queue, CancellationToken cancellationToken) =>
        InTransactionAsync(
            async (rows, session) =>
            {
                await session.QueryAsync(session.Dialect.Lock("@line"), _ => true, ("line", timer.Target));
                await rows.RemoveTimersAsync(timer.Id);
                var due = await rows.ReadAsync(
                    $"line = @line and due_at <= {StoreClock.Now} order by due_at, number",
                    ("line", timer.Target)
                );
                foreach (var (number, _, _) in due)
                    await rows.DeleteAsync("number = @number", ("number", number));
                return await ReleasedAsync(rows, due.Select(row => row.Held), queue);
            },
            cancellationToken
        );

    public async Task<IReadOnlyList<SequenceChange>> PassAsync(IReadOnlyList<PassedMessage> messages, CancellationToken cancellationToken)
    {
        var changes = new Dictionary<PassedMessage, SequenceChange>(ReferenceEqualityComparer.Instance);
        var left = messages
            .DistinctBy(passed => IdOf(passed.Held))
            .Select(passed => (Passed: passed, Outgoing: HeldRows.OutgoingOf(passed.Held, passed.Queue)))
            .ToList();
        while (left.Count > 0)
        {
            var some = left;
            var (isNew, followed) = await InTransactionAsync(
                async (rows, session) =>
                {
                    var stored = await rows.PassAsync(some);
                    if (stored.New.Count < some.Count)
                        session.GiveUp();
                    return stored;
                },
                cancellationToken
            );
            left = [.. some.Where(one => isNew.Contains(IdOf(one.Passed.Held)))];
            if (left.Count < some.Count)
                continue; // the others are stored without those that were held before: that is rare, and needs no savepoint
            foreach (var (passed, outgoing) in some)
                changes[passed] = new SequenceChange(IsKnown: false, IsFull: false, [outgoing], followed.Contains(outgoing.Owner));
            break;
        }

        return [.. messages.Select(passed => changes.GetValueOrDefault(passed, SequenceChange.Known))];
    }

    public async Task<IReadOnlyList<HeldCount>> CountAsync(CancellationToken cancellationToken) =>
        await database.QueryAsync(
            """
            select step, count(*) as count, count(distinct coalesce(cast(group_id as text), line)) as lines, min(stored_at) as oldest
            from held_message group by step order by step
            """,
            row => new HeldCount(row.Text("step"), row.Long("count"), row.Long("lines"), row.Time("oldest")),
            cancellationToken
        );

    public async Task RemoveOldAsync(CancellationToken cancellationToken)
    {
        await database.ExecuteAsync(
            $"delete from held_inbox where received_at < {StoreClock.Now} - @kept",
            cancellationToken,
            ("kept", InboxRetention)
        );
        await database.ExecuteAsync(
            $"delete from held_line where next is not null and count = 0 and changed_at < {StoreClock.Now} - @kept",
            cancellationToken,
            ("kept", SequenceRetention)
        );
    }

    private static (string Step, Guid Id) IdOf(HeldMessage held) => (held.Step, held.Message.Id);

    private HeldRows RowsOf(SqlSession session) => new(session, database.Cipher);

    private Task<T> InTransactionAsync<T>(Func<HeldRows, SqlSession, Task<T>> work, CancellationToken cancellationToken) =>
        database.TransactAsync(session => work(RowsOf(session), session), cancellationToken);

    private static async Task<SequenceChange> ReleasedAsync(HeldRows rows, IEnumerable<HeldMessage> messages, string queue)
    {
        var (stored, follows) = await rows.SendAsync(messages, queue);
        return new SequenceChange(IsKnown: false, IsFull: false, stored, follows);
    }

    private static long NumberOf(StoredTimer timer) => long.Parse(timer.Data!, CultureInfo.InvariantCulture);
}
