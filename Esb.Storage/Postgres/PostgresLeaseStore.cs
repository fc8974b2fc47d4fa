using Dapper;
using Esb.Core.Storage;

namespace Esb.Storage.Postgres;

/// <summary>Leases in PostgreSQL; its clock alone decides.</summary>
internal sealed class PostgresLeaseStore(PostgresDatabase database) : ILeaseStore
{
    // Those who wait only read, so that asking costs no flush; whoever finds the name free may still lose it to another, and gets no row.
    // The seconds of the clock keep the tokens growing when the table is made anew, or comes back from a backup.
    private const string Acquire =
        """
        insert into lease as held (name, owner, token, expires_at)
        select @name, @owner, extract(epoch from clock_timestamp())::bigint, clock_timestamp() + @timeToLive
        where not exists (select from lease where name = @name and owner <> @owner and expires_at > clock_timestamp())
        on conflict (name) do update set owner = excluded.owner, token = greatest(held.token + 1, excluded.token), expires_at = excluded.expires_at
        where held.expires_at <= clock_timestamp() or held.owner = excluded.owner
        returning token
        """;

    private const string Renew =
        "update lease set expires_at = clock_timestamp() + @timeToLive where name = @name and token = @token";

    private const string Release =
        "update lease set expires_at = '-infinity' where name = @name and token = @token";

    public async Task<Lease?> AcquireAsync(string name, string owner, TimeSpan timeToLive, CancellationToken cancellationToken)
    {
        long? token = null;
        await RunAsync(async connection => token = await connection.ExecuteScalarAsync<long?>(Command(Acquire, new { name, owner, timeToLive }, cancellationToken)), cancellationToken);
        return token is { } granted ? new Lease(name, owner, granted) : null;
    }

    public async Task<bool> RenewAsync(Lease lease, TimeSpan timeToLive, CancellationToken cancellationToken)
    {
        var renewed = 0;
        await RunAsync(async connection => renewed = await connection.ExecuteAsync(Command(Renew, new { lease.Name, lease.Token, timeToLive }, cancellationToken)), cancellationToken);
        return renewed == 1;
    }

    public Task ReleaseAsync(Lease lease, CancellationToken cancellationToken) =>
        RunAsync(connection => connection.ExecuteAsync(Command(Release, new { lease.Name, lease.Token }, cancellationToken)), cancellationToken);

    private Task RunAsync(Func<Npgsql.NpgsqlConnection, Task> work, CancellationToken cancellationToken) => database.RunAsync(
        async () =>
        {
            await using var connection = await database.Source.OpenConnectionAsync(cancellationToken);
            await work(connection);
        },
        cancellationToken);

    private static CommandDefinition Command(string sql, object parameters, CancellationToken cancellationToken) => new(sql, parameters, cancellationToken: cancellationToken);
}
