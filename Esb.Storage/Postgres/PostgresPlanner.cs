using Esb.Core.Configuration;
using Esb.Core.Planning;
using Esb.Core.Storage;
using Microsoft.Extensions.Logging;
using Npgsql;

namespace Esb.Storage.Postgres;

/// <summary>The pending migrations of the tables of the store. The first host that starts runs them, too.</summary>
internal sealed class PostgresPlanner(BusIdentity bus, StoreConfig configured, ILogger<PostgresPlanner> logger) : IChangePlanner
{
    public async Task<IReadOnlyList<PlannedChange>> PlanAsync(CancellationToken cancellationToken)
    {
        var changes = new List<PlannedChange>();
        await WithSchemasAsync(async schema =>
        {
            var planned = await schema.PlanAsync(cancellationToken);
            changes.AddRange(planned);
            return planned.All(change => change.Kind == ChangeKind.Keep) ? await schema.FindOwnerAsync(cancellationToken) : null;
        });
        return changes;
    }

    public Task ApplyAsync(Action<string> tell, CancellationToken cancellationToken) =>
        WithSchemasAsync(async schema =>
        {
            foreach (var change in (await schema.PlanAsync(cancellationToken)).Where(change => change.Kind != ChangeKind.Keep))
                tell($"{change.Object}: {change.Detail}");
            await schema.MigrateAsync(cancellationToken);
            return await schema.OwnAsync(bus.Name, cancellationToken);
        });

    // The schema of the store, and the schema of this configuration if another configuration owns the first.
    private async Task WithSchemasAsync(Func<PostgresSchema, Task<string?>> workAndFindOwner)
    {
        if (configured is not PostgresStoreConfig store)
            return;
        try
        {
            if (await WorkAsync(store) is not { } owner || owner == bus.Name)
                return;
            await WorkAsync(store with { Schema = StoreShare.SchemaOf(store.Schema, bus.Name) });
        }
        catch (Exception ex) when (PostgresErrors.IsFailure(ex))
        {
            throw PostgresErrors.NotServed(ex);
        }

        async Task<string?> WorkAsync(PostgresStoreConfig config)
        {
            await using var source = PostgresConnection.Pool(config, readOnly: false);
            return await workAndFindOwner(new PostgresSchema(source, config.Schema, logger));
        }
    }
}
