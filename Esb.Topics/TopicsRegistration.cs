using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Configuration.Revisions;
using Esb.Core;
using Esb.Core.Audit;
using Esb.Core.Brokers;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Parties;
using Esb.Core.Planning;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Topics.ClaimChecks;
using Esb.Topics.Farm;
using Esb.Topics.Memory;
using Esb.Topics.Publishing;
using Esb.Topics.RabbitMq;
using Esb.Topics.RabbitMq.Endpoints;
using Esb.Topics.RabbitMq.Planning;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Logging;

namespace Esb.Topics;

/// <summary>Topics in memory and over RabbitMQ.</summary>
public static class TopicsRegistration
{
    /// <summary>Registers the transport that the configuration names, and the publisher on top of it.</summary>
    public static IServiceCollection AddEsbTopics(this IServiceCollection services) => services.AddTransports().AddPublisher();

    private static IServiceCollection AddTransports(this IServiceCollection services)
    {
        services.TryAddSingleton(CreateTransport);
        services.TryAddSingleton(FindUnroutable);
        // each transport reaches its own queues
        services.TryAddSingleton(provider => (IEndpointQueues)provider.GetRequiredService<ITopicTransport>());
        services.TryAddSingleton(provider => (IReplyAddresses)provider.GetRequiredService<ITopicTransport>());
        services.TryAddSingleton(FindFarm);
        services.TryAddSingleton<IBrokers, EndpointBrokers>();
        return services
            .AddTransport<MemoryTransportConfig>("memory", "Within the process: needs no server, and ends with the process.", CreateMemory)
            .AddTransport<RabbitMqTransportConfig>("rabbitmq", "Over a RabbitMQ broker, 3.10 or later.", CreateRabbitMq)
            .AddSingleton<TopicsPart>()
            .AddSingleton<IBusPart>(provider => provider.GetRequiredService<TopicsPart>())
            .AddSingleton<IHealthCheck>(provider => provider.GetRequiredService<TopicsPart>())
            .AddSingleton<IHealthNotices>(provider => provider.GetRequiredService<TopicsPart>())
            .AddSingleton<IRevisionPart>(provider => provider.GetRequiredService<TopicsPart>())
            .AddScoped<IChangePlanner, BrokerPlanner>()
            .AddSection<FarmConfig>("farm", "How the hosts of this configuration trust one another.", needsRestart: true)
            .AddSingleton(provider => new FarmKeys(provider.GetRequiredService<FarmConfig>(), provider.GetService<IFarmKeyStore>))
            .AddRule<FarmRule>()
            .AddRule<RabbitMqTransportRule>()
            .AddRule<BrokerEndpointsRule>();
    }

    private static IServiceCollection AddPublisher(this IServiceCollection services)
    {
        services.TryAddSingleton(CreatePublisher);
        services.TryAddSingleton<ITopicPublisher>(provider => new PartyPublisher(
            provider.GetRequiredService<TopicPublisher>(),
            provider.GetRequiredService<Live<PartyDirectory>>()
        ));
        services.TryAddSingleton<IOutgoingPublisher>(provider => provider.GetRequiredService<TopicPublisher>());
        return services.AddCompiler<ITopicKeys, TopicKeyCompiler>();
    }

    private static ITopicTransport CreateTransport(IServiceProvider provider)
    {
        var config = provider.GetRequiredService<TransportConfig>();
        return provider.GetServices<TransportFactory>().Single(factory => factory.Settings == config.GetType()).Create(provider, config);
    }

    private static MemoryTransport CreateMemory(IServiceProvider provider, MemoryTransportConfig config) =>
        new(
            provider.GetRequiredService<Live<LimitsConfig>>(),
            provider.GetRequiredService<TimeProvider>(),
            provider.GetRequiredService<ILogger<MemoryTransport>>()
        );

    private static RabbitMqTransport CreateRabbitMq(IServiceProvider provider, RabbitMqTransportConfig config) =>
        new(
            config,
            provider.GetRequiredService<BusIdentity>().Name,
            provider.GetRequiredService<Live<IReadOnlyDictionary<string, TopicConfig>>>().Current,
            TopicsPart.SubscriptionsOf(provider.GetRequiredService<IRevisions>().Current.Services),
            provider.GetRequiredService<Live<LimitsConfig>>(),
            provider.GetRequiredService<IClaimCheckStore>(),
            provider.GetRequiredService<FarmKeys>(),
            provider.GetRequiredService<TimeProvider>(),
            provider.GetRequiredService<ILoggerFactory>()
        );

    private static IUnroutableMessages FindUnroutable(IServiceProvider provider) =>
        ((IBusTransport)provider.GetRequiredService<ITopicTransport>()).Unroutable;

    private static IFarm FindFarm(IServiceProvider provider) =>
        (provider.GetRequiredService<ITopicTransport>() as IBusTransport)?.Farm
        ?? new LoneFarm(provider.GetRequiredService<ILogger<LoneFarm>>());

    private static TopicPublisher CreatePublisher(IServiceProvider provider) =>
        new TopicPublisher(
            provider.GetRequiredService<ITopicTransport>(),
            provider.GetRequiredService<Live<ITopicKeys>>(),
            provider.GetRequiredService<Live<ITopicSchemas>>(),
            provider.GetRequiredService<IAuditTrail>(),
            provider.GetRequiredService<Live<LimitsConfig>>(),
            provider.GetRequiredService<TimeProvider>(),
            provider.GetRequiredService<IClaimCheckStore>()
        );
}
