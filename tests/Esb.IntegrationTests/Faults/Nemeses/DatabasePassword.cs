using Dapper;
using Esb.IntegrationTests.Faults.Benches;
using Npgsql;

namespace Esb.IntegrationTests.Faults.Nemeses;

/// <summary>A user of the database for the hosts of one bench, who needs a password; all others of the tests need none.</summary>
internal static class DatabasePassword
{
    /// <summary>Makes the user, and returns how the hosts connect as it.</summary>
    public static async Task<string> RequireAsync(FaultBench bench, string password)
    {
        await using var connection = new NpgsqlConnection(bench.Servers.Postgres);
        await connection.OpenAsync();
        await connection.ExecuteAsync($"create role \"{bench.Name}\" login superuser password '{password}'");
        var rules = (await connection.ExecuteScalarAsync<string>("select current_setting('hba_file')"))!;
        var others = await File.ReadAllTextAsync(rules);
        // the first rule that fits counts
        await File.WriteAllTextAsync(rules, $"host all {bench.Name} 127.0.0.1/32 scram-sha-256\n{others}");
        await connection.ExecuteAsync("select pg_reload_conf()");
        return new NpgsqlConnectionStringBuilder(bench.Network.Postgres)
        {
            Database = bench.Name,
            Username = bench.Name,
            Password = password,
        }.ConnectionString;
    }

    /// <summary>Gives the user another password, which the hosts do not know unless it is the first.</summary>
    public static async Task ChangeAsync(FaultBench bench, string password)
    {
        await using var connection = new NpgsqlConnection(bench.Servers.Postgres);
        await connection.OpenAsync();
        await connection.ExecuteAsync($"alter role \"{bench.Name}\" password '{password}'");
    }
}
