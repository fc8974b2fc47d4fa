using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using Esb.Core.Messages;
using Esb.Core.Storage;

namespace Esb.Storage.Sql.Held;

/// <summary>Sequences: what arrives early waits for what comes before it.</summary>
internal sealed partial class HeldMessages
{
    public Task<SequenceChange> AddToSequenceAsync(
        HeldMessage message,
        long sequence,
        long start,
        TimeSpan? within,
        int maxPending,
        string queue,
        CancellationToken cancellationToken
    ) =>
        InTransactionAsync(
            async (rows, session) =>
            {
                if (!await rows.NoteAsync(message))
                    return SequenceChange.Known;
                var (next, waiting) = await LockAsync(session, message, start);
                if (sequence < next)
                    return await ReleasedAsync(rows, [message], queue); // its gap was given up: it is late, and not lost
                if (sequence > next)
                {
                    if (waiting >= maxPending)
                    {
                        session.GiveUp();
                        return new SequenceChange(IsKnown: false, IsFull: true, [], FollowsUnpublished: false);
                    }

                    await rows.AddAsync(message, sequence: sequence);
                    await KeepAsync(session, message.Line, next, waiting + 1);
                    if (waiting == 0)
                        await WaitAsync(rows, message.Line, next, within);
                    return new SequenceChange(IsKnown: false, IsFull: false, [], FollowsUnpublished: false);
                }

                var following = waiting == 0 ? [] : await FollowingAsync(rows, session, message.Line, next + 1);
                await MoveAsync(rows, session, message.Line, following, NextBehind(following, next), waiting, within);
                return await ReleasedAsync(rows, [message, .. following.Select(row => row.Held)], queue);
            },
            cancellationToken
        );

    public async Task<IReadOnlyList<HeldMessage>> ReadSequenceAsync(string line, CancellationToken cancellationToken) =>
        await database.ReadAsync(
            async session =>
                (IReadOnlyList<HeldMessage>)
                    [
                        .. (
                            await RowsOf(session)
                                .ReadAsync("line = @line and sequence is not null order by sequence, number", ("line", line))
                        ).Select(row => row.Held),
                    ],
            cancellationToken
        );

    public Task<SequenceChange> PassGapAsync(StoredTimer timer, TimeSpan? within, string? queue, CancellationToken cancellationToken) =>
        InTransactionAsync(
            async (rows, session) =>
            {
                var state = await session.QueryAsync(
                    $"select next, count from held_line where line = @line{session.Dialect.ForUpdate}",
                    row => (Next: row.Long("next"), Waiting: row.Int("count")),
                    ("line", timer.Target)
                );
                if (!await rows.TakeDueAsync(timer.Id) || state is not [{ Waiting: > 0 } line])
                    return SequenceChange.Known;
                if (line.Next != NumberOf(timer))
                {
                    session.GiveUp(); // another gap has taken the place of this one, and keeps its timer
                    return SequenceChange.Known;
                }

                var first = await session.FirstAsync(
                    "select min(sequence) as sequence, max(sequence) as last from held_message where line = @line",
                    row => (Sequence: row.Long("sequence"), Last: row.Long("last")),
                    ("line", timer.Target)
                );
                if (queue is null)
                {
                    await rows.DeleteAsync("line = @line", ("line", timer.Target));
                    await KeepAsync(session, timer.Target, first.Last + 1, waiting: 0);
                    return new SequenceChange(IsKnown: false, IsFull: false, [], FollowsUnpublished: false);
                }

                var following = await FollowingAsync(rows, session, timer.Target, first.Sequence);
                await MoveAsync(rows, session, timer.Target, following, NextBehind(following, first.Sequence), line.Waiting, within);
                return await ReleasedAsync(rows, following.Select(row => row.Held), queue);
            },
            cancellationToken
        );

    // Locks the line until the end of the transaction.
    private static async Task<(long Next, int Waiting)> LockAsync(SqlSession session, HeldMessage message, long start) =>
        await session.FirstAsync(
            """
            insert into held_line (line, step, count, size, next, opened_at, changed_at)
            values (@line, @step, 0, 0, @start, clock_timestamp(), clock_timestamp())
            on conflict (line) do update set changed_at = excluded.changed_at
            returning next, count
            """,
            row => (row.Long("next"), row.Int("count")),
            ("line", message.Line),
            ("step", message.Step),
            ("start", start)
        );

    private static Task KeepAsync(SqlSession session, string line, long next, int waiting) =>
        session.ExecuteAsync(
            "update held_line set next = @next, count = @count, changed_at = clock_timestamp() where line = @line",
            ("line", line),
            ("next", next),
            ("count", waiting)
        );

    // Messages without a gap between them, from a number on; several with one number follow each other as they came.
    private static async Task<List<(long Number, long? Sequence, HeldMessage Held)>> FollowingAsync(
        HeldRows rows,
        SqlSession session,
        string line,
        long from
    )
    {
        var numbers = await session.QueryAsync(
            "select sequence from held_message where line = @line and sequence >= @from order by sequence",
            row => row.Long("sequence"),
            ("line", line),
            ("from", from)
        );
        var last = from - 1;
        foreach (var number in numbers)
        {
            if (number > last + 1)
                break;
            last = number;
        }

        return last < from
            ? []
            : await rows.ReadAsync(
                "line = @line and sequence >= @from and sequence <= @last order by sequence, number",
                ("line", line),
                ("from", from),
                ("last", last)
            );
    }

    private static long NextBehind(List<(long Number, long? Sequence, HeldMessage Held)> following, long otherwise) =>
        following.Count == 0 ? otherwise + 1 : following[^1].Sequence!.Value + 1;

    private static async Task MoveAsync(
        HeldRows rows,
        SqlSession session,
        string line,
        List<(long Number, long? Sequence, HeldMessage Held)> released,
        long next,
        int waiting,
        TimeSpan? within
    )
    {
        if (released.Count > 0)
            await rows.DeleteAsync(
                "line = @line and sequence >= @first and sequence <= @last",
                ("line", line),
                ("first", released[0].Sequence!.Value),
                ("last", released[^1].Sequence!.Value)
            );
        var left = waiting - released.Count;
        await KeepAsync(session, line, next, left);
        if (waiting == 0)
            return;
        await rows.RemoveTimersAsync(GapOf(line));
        if (left > 0)
            await WaitAsync(rows, line, next, within);
    }

    private static async Task WaitAsync(HeldRows rows, string line, long next, TimeSpan? within)
    {
        if (within is { } time)
            await rows.SetTimerAsync(
                new StoredTimer(GapOf(line), HeldTimers.Gap, line) { Delay = time, Data = next.ToString(CultureInfo.InvariantCulture) }
            );
    }

    private static Guid GapOf(string line) => MessageIds.Derive(new Guid(SHA256.HashData(Encoding.UTF8.GetBytes(line))[..16]), "gap");
}
