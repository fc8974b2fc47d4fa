using Esb.Configuration.Compiling;
using Esb.Configuration.Revisions;
using Esb.Core;
using Esb.Core.Marks;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Delivery.Databases;
using Esb.Endpoints.Sql.Clients;
using Esb.Endpoints.Sql.Lookups;
using Esb.Endpoints.Sql.Outbox;
using Esb.Endpoints.Sql.Tables;
using Esb.Endpoints.Sql.Transactions;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;

namespace Esb.Endpoints.Sql;

/// <summary>Registers the services shared by endpoints that use databases.</summary>
internal static class DatabaseRegistration
{
    public static IServiceCollection AddDatabases(this IServiceCollection services)
    {
        services.TryAddSingleton<DatabaseConnections>();
        services.TryAddEnumerable(ServiceDescriptor.Singleton<IMarkSource, SessionMarks>());
        services.TryAddEnumerable(ServiceDescriptor.Singleton<IDatabaseProvider, NpgsqlProvider>());
        services.AddDatabaseClient<MySqlClient>();
        services.TryAddSingleton<DatabaseProviders>();
        services.AddRule<ConnectionsRule>();
        services.AddCompiling<IDatabaseProvider, NpgsqlProvider>().AddCompiling<ITransactionSupport, SqlTransactionSupport>();
        services.AddCompiling<DatabaseProviders, DatabaseProviders>();
        services.AddRule<LookupQueriesRule>();
        services.TryAddSingleton<ILookupQueries, LookupQueries>();
        services.TryAddSingleton<OutboxTables>();
        services.TryAddSingleton<ITransactions, SqlTransactions>();
        return services;
    }

    /// <summary>Registers the bus's own tables.</summary>
    public static IServiceCollection AddBusTables(this IServiceCollection services) =>
        services
            .AddSingleton<BusTablesKeeper>()
            .AddSingleton<IBusPart>(provider => provider.GetRequiredService<BusTablesKeeper>())
            .AddSingleton<IRevisionPart>(provider => provider.GetRequiredService<BusTablesKeeper>());

    /// <summary>Registers the outboxes.</summary>
    public static IServiceCollection AddOutboxes(this IServiceCollection services) =>
        services
            .AddSingleton<Outboxes>()
            .AddSingleton<IOutboxMonitor>(provider => provider.GetRequiredService<Outboxes>())
            .AddSingleton<IBusPart>(provider => provider.GetRequiredService<Outboxes>())
            .AddSingleton<IRevisionPart>(provider => provider.GetRequiredService<Outboxes>());
}
