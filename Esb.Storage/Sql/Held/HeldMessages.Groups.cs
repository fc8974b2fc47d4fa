using Esb.Core.Storage;

namespace Esb.Storage.Sql.Held;

/// <summary>Groups of messages that are put together.</summary>
internal sealed partial class HeldMessages
{
    public async Task<IReadOnlyList<GroupChange>> AddToGroupsAsync(
        IReadOnlyList<GroupedMessage> messages,
        CancellationToken cancellationToken
    )
    {
        var changes = new Dictionary<GroupedMessage, GroupChange>(ReferenceEqualityComparer.Instance);
        var left = messages.DistinctBy(message => IdOf(message.Held)).ToList();
        while (left.Count > 0 && changes.Count == 0)
        {
            var some = left;
            left = await InTransactionAsync(
                async (rows, session) =>
                {
                    var (isNew, lines) = await rows.OpenLinesAsync(some);
                    if (isNew.Count == some.Count)
                    {
                        var made = some.Select(message => lines[message.Held.Line].Add(message)).ToList();
                        if (await rows.StoreLinesAsync(some.Zip(made, (message, change) => (message.Held, change.Group)), lines.Values))
                        {
                            foreach (var (message, change) in some.Zip(made))
                                changes[message] = change;
                            return some;
                        }
                    }

                    // Stored again: without those that were held before, or behind the host that began a group meanwhile.
                    session.GiveUp();
                    return [.. some.Where(message => isNew.Contains(IdOf(message.Held)))];
                },
                cancellationToken
            );
        }

        return [.. messages.Select(message => changes.GetValueOrDefault(message, GroupChange.Known))];
    }

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

                if (!await rows.TakeDueAsync(timer.Id))
                {
                    session.GiveUp(); // another message has extended the time
                    return null;
                }

                var release = GroupLine.ReleaseOf(timer.Target, group, reason);
                await rows.RemoveTimersAsync(GroupLine.TimersOf(group));
                await rows.SetTimerAsync(release);
                return release;
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
}
