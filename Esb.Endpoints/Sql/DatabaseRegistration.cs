using Esb.Core;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;

namespace Esb.Endpoints.Sql;

/// <summary>What endpoints that use databases share.</summary>
internal static class DatabaseRegistration
{
    public static IServiceCollection AddDatabases(this IServiceCollection services)
    {
        services.TryAddSingleton<DatabaseConnections>();
        services.TryAddEnumerable(ServiceDescriptor.Singleton<IDatabaseProvider, NpgsqlProvider>());
        services.TryAddEnumerable(ServiceDescriptor.Singleton<IConfigurationCheck, ConnectionsCheck>());
        return services;
    }
}
