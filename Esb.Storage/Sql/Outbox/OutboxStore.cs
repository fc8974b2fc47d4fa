using Esb.Core.Storage;

namespace Esb.Storage.Sql.Outbox;

/// <summary>Messages to publish, in the table <c>outbox</c>. The clock of the database alone counts.</summary>
internal sealed class OutboxStore(SqlDatabase database) : IOutboxStore
{
    private const int RowsAtOnce = 256;

    public Task AddAsync(IReadOnlyList<OutboxMessage> messages, TimeSpan claim, CancellationToken cancellationToken) =>
        database.TransactAsync(
            async session =>
            {
                foreach (var some in messages.Chunk(RowsAtOnce))
                {
                    var rows = OutboxRows.Of("outgoing", some, claim, database.Cipher);
                    await session.ExecuteAsync(OutboxRows.Insert(session.Dialect, rows), rows);
                }

                return true;
            },
            cancellationToken
        );

    public async Task<IReadOnlyList<OutboxMessage>> ClaimAsync(int limit, TimeSpan claim, CancellationToken cancellationToken)
    {
        var isAny = await database.FirstAsync<bool?>(
            $"select true as found from outbox where {Claims.AreOver} limit 1",
            row => row.Flag("found"),
            cancellationToken,
            Claims.Parameter
        );
        if (isAny is null)
            return [];

        // The first message of an owner stands for all of them: where it is claimed, the later ones wait.
        return await database.TransactAsync(
            async session =>
            {
                var owners = await session.QueryAsync(
                    $"""
                    select owner, number from outbox as first
                    where {Claims.AreOver} and not exists (select 1 from outbox as before where before.owner = first.owner
                      and before.number < first.number)
                    order by number limit @limit{session.Dialect.ForUpdateSkipLocked}
                    """,
                    row => row.Text("owner"),
                    ("limit", limit),
                    Claims.Parameter
                );
                var claimed = new List<OutboxMessage>();
                foreach (var owner in owners)
                {
                    await session.ExecuteAsync(
                        "update outbox set claimed_until = clock_timestamp() + @claim where owner = @owner",
                        ("claim", claim),
                        ("owner", owner)
                    );
                    claimed.AddRange(
                        await session.QueryAsync(
                            "select * from outbox where owner = @owner order by number limit 1000",
                            row => OutboxRows.Read(row, database.Cipher),
                            ("owner", owner)
                        )
                    );
                }

                return claimed;
            },
            cancellationToken
        );
    }

    public Task ExtendAsync(IReadOnlyList<Guid> ids, TimeSpan claim, CancellationToken cancellationToken) =>
        database.ExecuteAsync(
            $"update outbox set claimed_until = clock_timestamp() + @claim where {database.Dialect.IsOneOf("id", "ids")}",
            cancellationToken,
            ("ids", ids.ToArray()),
            ("claim", claim)
        );

    public Task ReleaseAsync(CancellationToken cancellationToken) =>
        database.ExecuteAsync(
            "update outbox set claimed_until = clock_timestamp() where claimed_until > clock_timestamp()",
            cancellationToken
        );

    public Task RemoveAsync(IReadOnlyList<Guid> ids, CancellationToken cancellationToken) =>
        database.ExecuteAsync(
            $"delete from outbox where {database.Dialect.IsOneOf("id", "ids")}",
            cancellationToken,
            ("ids", ids.ToArray())
        );
}
