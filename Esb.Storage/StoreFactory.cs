using Esb.Configuration;
using Esb.Core.Storage;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Esb.Storage;

/// <summary>A kind of store, found by its settings.</summary>
/// <param name="Settings">The type of its settings.</param>
/// <param name="Create">Makes the store of a host.</param>
/// <param name="Read">Opens what a configuration has in it for reading without a host.</param>
internal sealed record StoreFactory(
    Type Settings,
    Func<IServiceProvider, StoreConfig, Store> Create,
    Func<StoreConfig, StoreReading, ILogger, StoreReader> Read
)
{
    /// <summary>The kind that a configuration names.</summary>
    public static StoreFactory Of(StoreConfig store, IEnumerable<StoreFactory> factories) =>
        factories.Single(factory => factory.Settings == store.GetType());
}

/// <summary>How a store is read without a host.</summary>
/// <param name="Configuration">The configuration that uses it; null for its owner, whichever that is.</param>
/// <param name="Evidence">Where its anchors are.</param>
/// <param name="TakesEarlier">True to read also tables of an earlier version of the program, before an upgrade.</param>
internal sealed record StoreReading(string? Configuration, AuditEvidenceConfig Evidence, bool TakesEarlier = false);

/// <summary>Registers kinds of store.</summary>
internal static class StoreFactoryRegistration
{
    /// <summary>Registers a kind of store under the name that the configuration uses.</summary>
    public static IServiceCollection AddStore<TConfig>(
        this IServiceCollection services,
        string kind,
        string description,
        Func<IServiceProvider, TConfig, Store> create,
        Func<TConfig, StoreReading, ILogger, StoreReader> read
    )
        where TConfig : StoreConfig =>
        services
            .AddKind<StoreConfig, TConfig>(kind, description)
            .AddSingleton(
                new StoreFactory(
                    typeof(TConfig),
                    (provider, config) => create(provider, (TConfig)config),
                    (config, reading, logger) => read((TConfig)config, reading, logger)
                )
            );
}
