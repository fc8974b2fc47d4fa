using Esb.Core.Configuration;
using Esb.Core.Planning;
using Esb.Core.Storage;
using Microsoft.Extensions.Logging;
using Npgsql;

namespace Esb.Storage.Postgres;

/// <summary>The migrations that the tables of the store still need. The first host that starts makes them, too.</summary>
internal sealed class PostgresPlanner(EsbConfiguration configuration, ILogger<PostgresPlanner> logger) : IChangePlanner
{
    public async Task<IReadOnlyList<PlannedChange>> PlanAsync(CancellationToken cancellationToken)
    {
        var changes = new List<PlannedChange>();
        await WithSchemaAsync(async schema => changes.AddRange(await schema.PlanAsync(cancellationToken)));
        return changes;
    }

    public Task ApplyAsync(Action<string> tell, CancellationToken cancellationToken) => WithSchemaAsync(async schema =>
    {
        foreach (var change in (await schema.PlanAsync(cancellationToken)).Where(change => change.Kind != ChangeKind.Keep)) tell($"{change.Object}: {change.Detail}");
        await schema.MigrateAsync(cancellationToken);
    });

    private async Task WithSchemaAsync(Func<PostgresSchema, Task> work)
    {
        if (configuration.Section<StoreConfig>("store") is not PostgresStoreConfig store) return;
        try
        {
            await using var source = NpgsqlDataSource.Create(PostgresConnection.With(store, readOnly: false));
            await work(new PostgresSchema(source, store.Schema, logger));
        }
        catch (Exception ex) when (PostgresErrors.IsFailure(ex))
        {
            throw PostgresErrors.NotServed(ex);
        }
    }
}
