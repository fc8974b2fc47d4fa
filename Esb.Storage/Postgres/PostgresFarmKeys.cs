using System.Security.Cryptography;
using Dapper;
using Esb.Core.Storage;
using Npgsql;

namespace Esb.Storage.Postgres;

/// <summary>The farm's key in a table of one row.</summary>
internal sealed class PostgresFarmKeys(PostgresDatabase database) : IFarmKeyStore
{
    private const int KeyBytes = 32;

    public async Task<byte[]?> FindOrMakeAsync(CancellationToken cancellationToken)
    {
        await database.EnsureReadyAsync(cancellationToken);
        try
        {
            await using var connection = await database.Source.OpenConnectionAsync(cancellationToken);
            return await FindAsync(connection, cancellationToken) ?? await MakeAsync(connection, cancellationToken);
        }
        catch (Exception ex) when (PostgresErrors.IsFailure(ex))
        {
            throw PostgresErrors.NotServed(ex);
        }
    }

    private static Task<byte[]?> FindAsync(NpgsqlConnection connection, CancellationToken cancellationToken) =>
        connection.QuerySingleOrDefaultAsync<byte[]?>(
            new CommandDefinition("select key from farm_key", cancellationToken: cancellationToken)
        );

    // Of two hosts that start at once, one makes it.
    private static async Task<byte[]?> MakeAsync(NpgsqlConnection connection, CancellationToken cancellationToken)
    {
        var key = RandomNumberGenerator.GetBytes(KeyBytes);
        await connection.ExecuteAsync(
            new CommandDefinition(
                "insert into farm_key (key) values (@key) on conflict do nothing",
                new { key },
                cancellationToken: cancellationToken
            )
        );
        return await FindAsync(connection, cancellationToken);
    }
}
