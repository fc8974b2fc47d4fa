using System.Globalization;
using Esb.Core.Messages;
using Esb.Core.Storage;

namespace Esb.Storage.Sql.Held;

/// <summary>Held messages in the tables <c>held_line</c>, <c>held_message</c> and <c>held_inbox</c>. A change locks the line first, so that
/// two changes of a line wait for one another and never for a part of each other.</summary>
internal sealed partial class HeldMessages(SqlDatabase database) : IHeldMessages
{
    private static readonly TimeSpan InboxRetention = TimeSpan.FromDays(7);
    private static readonly TimeSpan SequenceRetention = TimeSpan.FromDays(365);

    public Task<GroupChange> AddToGroupAsync(HeldMessage message, GroupRule rule, CancellationToken cancellationToken) =>
        InTransactionAsync((rows, session) => AddToGroupAsync(rows, session, message, rule), cancellationToken);

    public Task<StoredTimer?> CloseGroupAsync(StoredTimer timer, string reason, CancellationToken cancellationToken) =>
        InTransactionAsync(
            async (rows, session) =>
            {
                var group = Guid.Parse(timer.Data!);
                var isOpen =
                    await session.ExecuteAsync(
                        "delete from held_line where line = @line and group_id = @group",
                        ("line", timer.Target),
                        ("group", group)
                    ) == 1;
                if (!isOpen)
                {
                    await rows.RemoveTimersAsync(timer.Id);
                    return null;
                }

                if (await rows.TakeDueAsync(timer.Id))
                    return await ReleaseAsync(rows, timer.Target, group, reason);
                session.GiveUp(); // another message has extended the time
                return null;
            },
            cancellationToken
        );

    public async Task<IReadOnlyList<HeldMessage>> ReadGroupAsync(Guid group, CancellationToken cancellationToken) =>
        await database.ReadAsync(
            async session =>
                (IReadOnlyList<HeldMessage>)
                    [.. (await RowsOf(session).ReadAsync("group_id = @group order by number", ("group", group))).Select(row => row.Held)],
            cancellationToken
        );

    public Task<bool?> EndGroupAsync(Guid timer, Guid group, OutboxMessage? outgoing, CancellationToken cancellationToken) =>
        InTransactionAsync<bool?>(
            async (rows, session) =>
            {
                if (await session.ExecuteAsync("delete from timer where id = @id", ("id", timer)) == 0)
                    return null;
                await rows.DeleteAsync("group_id = @group", ("group", group));
                return outgoing is not null && (await rows.SendAsync([outgoing])).FollowsUnpublished;
            },
            cancellationToken
        );

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
            .DistinctBy(IdOf)
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
            left = [.. some.Where(one => isNew.Contains(IdOf(one.Passed)))];
            if (left.Count < some.Count)
                continue; // the others are stored without those that were held before: that is rare, and needs no savepoint
            foreach (var (passed, outgoing) in some)
                changes[passed] = new SequenceChange(IsKnown: false, IsFull: false, [outgoing], followed.Contains(outgoing.Owner));
            break;
        }

        return [.. messages.Select(passed => changes.GetValueOrDefault(passed, SequenceChange.Known))];

        static (string, Guid) IdOf(PassedMessage passed) => (passed.Held.Step, passed.Held.Message.Id);
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
            "delete from held_inbox where received_at < clock_timestamp() - @kept",
            cancellationToken,
            ("kept", InboxRetention)
        );
        await database.ExecuteAsync(
            "delete from held_line where next is not null and count = 0 and changed_at < clock_timestamp() - @kept",
            cancellationToken,
            ("kept", SequenceRetention)
        );
    }

    private HeldRows RowsOf(SqlSession session) => new(session, database.Cipher);

    private Task<T> InTransactionAsync<T>(Func<HeldRows, SqlSession, Task<T>> work, CancellationToken cancellationToken) =>
        database.TransactAsync(session => work(RowsOf(session), session), cancellationToken);

    private static async Task<SequenceChange> ReleasedAsync(HeldRows rows, IEnumerable<HeldMessage> messages, string queue)
    {
        var (stored, follows) = await rows.SendAsync(messages, queue);
        return new SequenceChange(IsKnown: false, IsFull: false, stored, follows);
    }

    private static async Task<GroupChange> AddToGroupAsync(HeldRows rows, SqlSession session, HeldMessage message, GroupRule rule)
    {
        var newGroup = MessageIds.Derive(message.Message.Id, $"group {message.Step}");
        if (await rows.JoinAsync(message, newGroup, rule.Expected) is not var (group, count, size, expected))
        {
            session.GiveUp();
            return new GroupChange(Guid.Empty, IsKnown: true, Release: null);
        }

        var isComplete = rule.IsLast || count >= expected;
        if (isComplete || count >= rule.MaxItems || size >= rule.MaxSize)
        {
            await session.ExecuteAsync("delete from held_line where line = @line", ("line", message.Line));
            await rows.RemoveTimersAsync(IdleOf(group), WithinOf(group));
            var reason = isComplete ? GroupReasons.Complete : GroupReasons.Full;
            return new GroupChange(group, IsKnown: false, await ReleaseAsync(rows, message.Line, group, reason));
        }

        if (rule.Idle is { } idle)
            await rows.SetTimerAsync(TimerOf(IdleOf(group), message.Line, group, idle));
        if (count == 1 && rule.Within is { } within)
            await rows.SetTimerAsync(TimerOf(WithinOf(group), message.Line, group, within));
        return new GroupChange(group, IsKnown: false, Release: null);
    }

    private static async Task<StoredTimer> ReleaseAsync(HeldRows rows, string line, Guid group, string reason)
    {
        var timer = new StoredTimer(MessageIds.Derive(group, "release"), HeldTimers.Release, line)
        {
            Delay = TimeSpan.Zero,
            Data = $"{group} {reason}",
        };
        await rows.RemoveTimersAsync(IdleOf(group), WithinOf(group));
        await rows.SetTimerAsync(timer);
        return timer;
    }

    private static StoredTimer TimerOf(Guid id, string line, Guid group, TimeSpan delay) =>
        new(id, HeldTimers.Group, line) { Delay = delay, Data = group.ToString() };

    private static Guid IdleOf(Guid group) => MessageIds.Derive(group, "idle");

    private static Guid WithinOf(Guid group) => MessageIds.Derive(group, "within");

    private static long NumberOf(StoredTimer timer) => long.Parse(timer.Data!, CultureInfo.InvariantCulture);
}
