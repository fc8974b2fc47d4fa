using Dapper;
using Npgsql;

namespace Esb.IntegrationTests.Faults.Sinks;

/// <summary>Which host wrote each effect, and which one had shown its fencing token last at that moment: all by the database's own
/// clock.</summary>
internal sealed class WriterLog(NpgsqlDataSource database, string endpoint)
{
    public async Task StartAsync()
    {
        await using var connection = await database.OpenConnectionAsync();
        await connection.ExecuteAsync(
            $"""
            alter table {endpoint} add column writer text not null default current_setting('application_name');
            create table fence_raised (token bigint not null, writer text not null, at timestamptz not null default clock_timestamp());
            create function note_fence() returns trigger language plpgsql as $$
            begin
              insert into public.fence_raised (token, writer) values (new.token, current_setting('application_name'));
              return new;
            end $$;
            create trigger note_fence after insert or update on esb.endpoint_fence for each row execute function note_fence();
            """
        );
    }

    /// <summary>Effects of a host after another one had shown a larger token.</summary>
    public async Task<int> CountStaleAsync()
    {
        await using var connection = await database.OpenConnectionAsync();
        return await connection.ExecuteScalarAsync<int>(
            $"""
            select count(*)::int from {endpoint} effect
            where effect.writer <> (select raised.writer from fence_raised raised where raised.at <= effect.applied_at order by raised.at desc limit 1)
            """
        );
    }

    /// <summary>How often a host took over.</summary>
    public async Task<int> CountOwnersAsync()
    {
        await using var connection = await database.OpenConnectionAsync();
        return await connection.ExecuteScalarAsync<int>("select count(*)::int from fence_raised");
    }
}
