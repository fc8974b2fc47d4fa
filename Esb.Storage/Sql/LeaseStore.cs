using Esb.Core.Storage;

namespace Esb.Storage.Sql;

/// <summary>Leases in the table <c>lease</c>. The clock of the database alone counts. Rows stay, so that tokens grow.</summary>
internal sealed class LeaseStore(SqlDatabase database) : ILeaseStore
{
    public async Task<Lease?> AcquireAsync(string name, string owner, TimeSpan timeToLive, CancellationToken cancellationToken)
    {
        // A token begins with the time, so that it grows also when the table is made anew, or comes back from a backup.
        var sql = $"""
            insert into lease as held (name, owner, token, expires_at)
            select @name, @owner, {database.Dialect.Epoch}, clock_timestamp() + @timeToLive
            where not exists (select 1 from lease where name = @name and owner <> @owner and expires_at > clock_timestamp())
            on conflict (name) do update set owner = excluded.owner, token = greatest(held.token + 1, excluded.token), expires_at =
              excluded.expires_at
            where held.expires_at <= clock_timestamp() or held.owner = excluded.owner
            returning token
            """;
        var token = await database.WriteAsync(
            session =>
                session.FirstAsync<long?>(sql, row => row.Long("token"), ("name", name), ("owner", owner), ("timeToLive", timeToLive)),
            cancellationToken
        );
        return token is { } granted ? new Lease(name, owner, granted) : null;
    }

    public async Task<bool> RenewAsync(Lease lease, TimeSpan timeToLive, CancellationToken cancellationToken) =>
        await database.ExecuteAsync(
            "update lease set expires_at = clock_timestamp() + @timeToLive where name = @name and token = @token",
            cancellationToken,
            ("name", lease.Name),
            ("token", lease.Token),
            ("timeToLive", timeToLive)
        ) == 1;

    public Task ReleaseAsync(Lease lease, CancellationToken cancellationToken) =>
        database.ExecuteAsync(
            "update lease set expires_at = @over where name = @name and token = @token",
            cancellationToken,
            ("name", lease.Name),
            ("token", lease.Token),
            ("over", DateTimeOffset.UnixEpoch)
        );
}
