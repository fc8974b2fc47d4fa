using Esb.Storage.Postgres.Audit;
using Npgsql;

namespace Esb.Storage.Postgres;

/// <summary>The tables of a store that belong to one configuration.</summary>
/// <param name="Source">Connections to them.</param>
/// <param name="Searches">Those for searches.</param>
/// <param name="KeyPartitions">Of the keys of requests.</param>
internal sealed record PostgresShare(NpgsqlDataSource Source, NpgsqlDataSource Searches, PostgresPartitions KeyPartitions)
    : IAsyncDisposable
{
    /// <summary>Whether they have a schema and connections of their own.</summary>
    public bool IsApart { get; init; }

    public static PostgresShare Of(NpgsqlDataSource source, NpgsqlDataSource searches, PostgresClock clock) =>
        new(source, searches, new PostgresPartitions(source, clock, maker: null, "idempotency_key"));

    public async ValueTask DisposeAsync()
    {
        if (!IsApart)
            return;
        await Source.DisposeAsync();
        await Searches.DisposeAsync();
    }
}
