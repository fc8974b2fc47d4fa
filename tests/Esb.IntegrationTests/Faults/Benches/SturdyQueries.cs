using Dapper;
using Npgsql;

namespace Esb.IntegrationTests.Faults.Benches;

/// <summary>Queries of the tests themselves, which go on over the end of a server that a fault brought.</summary>
internal static class SturdyQueries
{
    private const int LongestQuery = 600; // seconds: of millions of facts on a busy machine

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    public static async Task<IReadOnlyList<T>> QueryAsync<T>(
        this NpgsqlDataSource database,
        string sql,
        object? parameters,
        CancellationToken cancellationToken
    )
    {
        var started = TimeProvider.System.GetTimestamp();
        while (true)
        {
            try
            {
                await using var connection = await database.OpenConnectionAsync(cancellationToken);
                var command = new CommandDefinition(sql, parameters, commandTimeout: LongestQuery, cancellationToken: cancellationToken);
                return [.. await connection.QueryAsync<T>(command)];
            }
            catch (NpgsqlException ex) when (ex.IsTransient && TimeProvider.System.GetElapsedTime(started) < Patience)
            {
                database.Clear(); // its idle connections died with the server
                await Task.Delay(TimeSpan.FromMilliseconds(200), cancellationToken);
            }
        }
    }
}
