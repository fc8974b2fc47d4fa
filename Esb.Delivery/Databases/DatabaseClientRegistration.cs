using Esb.Configuration.Compiling;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;

namespace Esb.Delivery.Databases;

/// <summary>Registers clients of external databases.</summary>
public static class DatabaseClientRegistration
{
    /// <summary>Registers a client, which <c>provider</c> of a connection names.</summary>
    public static IServiceCollection AddDatabaseClient<TClient>(this IServiceCollection services)
        where TClient : class, IDatabaseClient
    {
        services.TryAddEnumerable(ServiceDescriptor.Singleton<IDatabaseClient, TClient>());
        return services.AddCompiling<IDatabaseClient, TClient>();
    }
}
