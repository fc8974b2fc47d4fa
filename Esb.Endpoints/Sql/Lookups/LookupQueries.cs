using System.Collections.Concurrent;
using System.Data.Common;
using Esb.Core.Storage;

namespace Esb.Endpoints.Sql.Lookups;

/// <inheritdoc/>
internal sealed class LookupQueries(DatabaseConnections databases) : ILookupQueries
{
    private readonly ConcurrentDictionary<string, SqlText> _texts = new();

    public async Task<IReadOnlyDictionary<string, string>?> FindAsync(
        string lookup,
        string connection,
        string query,
        string key,
        TimeSpan timeout,
        CancellationToken cancellationToken
    )
    {
        var (database, text) = (databases.Find(connection), _texts.GetOrAdd(query, SqlText.Parse));
        try
        {
            return await database.UseAsync(
                lookup,
                timeout,
                (open, limited) => RunAsync(database, open, text, key, limited),
                cancellationToken
            );
        }
        catch (Exception ex) when (database.Explain(ex, text.Parameters) is { } failure)
        {
            throw failure.ToException(lookup, ex);
        }
    }

    private static async Task<IReadOnlyDictionary<string, string>?> RunAsync(
        Database database,
        DbConnection connection,
        SqlText text,
        string key,
        CancellationToken cancellationToken
    )
    {
        await using var batch = database.Provider.CreateBatch(connection);
        database.Provider.AddCommand(batch, text, [key], [null]);
        await using var reader = await batch.ExecuteReaderAsync(cancellationToken);
        if (!await reader.ReadAsync(cancellationToken))
            return null;
        var entry = new Dictionary<string, string>();
        for (var i = 0; i < reader.FieldCount; i++)
        {
            if (!reader.IsDBNull(i))
                entry[reader.GetName(i)] = ColumnText.Of(reader.GetValue(i));
        }

        return entry;
    }
}
