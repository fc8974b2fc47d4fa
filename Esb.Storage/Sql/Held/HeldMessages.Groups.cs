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
        var remaining = messages.DistinctBy(message => IdOf(message.Held)).ToList();
        while (remaining.Count > 0)
        {
            var batch = remaining;
            var isNew = await InTransactionAsync(
                async (rows, session) =>
                {
                    var (isNew, lines) = await rows.OpenLinesAsync(batch);
                    if (isNew.Count < batch.Count)
                    {
                        session.GiveUp();
                        return isNew;
                    }

                    foreach (var message in batch)
                        changes[message] = lines[message.Held.Line].Add(message);
                    await rows.StoreLinesAsync([.. batch.Select(message => (message.Held, changes[message].Group))], lines.Values);
                    return isNew;
                },
                cancellationToken
            );
            if (isNew.Count == batch.Count)
                break;
            remaining = [.. batch.Where(message => isNew.Contains(IdOf(message.Held)))]; // without those that were held before
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
