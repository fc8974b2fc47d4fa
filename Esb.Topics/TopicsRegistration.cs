using Esb.Core;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
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
using Esb.Topics.RabbitMq.Planning;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Logging;

namespace Esb.Topics;

/// <summary>Topics in memory and over RabbitMQ.</summary>
public static class TopicsRegistration
{
    /// <summary>Registers the transport that the configuration names, and the publisher above it.</summary>
    public static IServiceCollection AddEsbTopics(this IServiceCollection services) => services.AddTransports().AddPublisher();

    private static IServiceCollection AddTransports(this IServiceCollection services)
    {
        services.TryAddSingleton(CreateTransport);
        services.TryAddSingleton(FindUnroutable);
        services.TryAddSingleton(provider => (IEndpointQueues)provider.GetRequiredService<ITopicTransport>()); // each transport reaches its own queues
        services.TryAddSingleton(CreateFarm);
        return services
            .AddKind<MemoryTransportConfig>("memory", "Within the process: needs no server, and ends with the process.")
            .AddKind<RabbitMqTransportConfig>("rabbitmq", "Over a RabbitMQ broker, 3.10 or later.")
            .AddSingleton<TopicsPart>()
            .AddSingleton<IBusPart>(provider => provider.GetRequiredService<TopicsPart>())
            .AddSingleton<IHealthCheck>(provider => provider.GetRequiredService<TopicsPart>())
            .AddSingleton<IChangePlanner, BrokerPlanner>()
            .AddSingleton<IConfigurationCheck, RabbitMqTransportCheck>();
    }

    private static IServiceCollection AddKind<TConfig>(this IServiceCollection services, string kind, string description)
        where TConfig : TransportConfig => services.AddSingleton(new SettingsKind(typeof(TransportConfig), kind, typeof(TConfig), description));

    private static IServiceCollection AddPublisher(this IServiceCollection services)
    {
        services.TryAddSingleton(CreatePublisher);
        services.TryAddSingleton<ITopicPublisher>(provider => new PartyPublisher(provider.GetRequiredService<TopicPublisher>(), provider.GetRequiredService<PartyDirectory>()));
        services.TryAddSingleton<IOutgoingPublisher>(provider => provider.GetRequiredService<TopicPublisher>());
        return services
            .AddSingleton<TopicKeys>()
            .AddSingleton<ITopicKeys>(provider => provider.GetRequiredService<TopicKeys>())
            .AddSingleton<IConfigurationCheck>(provider => provider.GetRequiredService<TopicKeys>());
    }

    private static ITopicTransport CreateTransport(IServiceProvider provider)
    {
        var configuration = provider.GetRequiredService<EsbConfiguration>();
        var limits = configuration.Section<LimitsConfig>("limits");
        var time = provider.GetRequiredService<TimeProvider>();
        var loggers = provider.GetRequiredService<ILoggerFactory>();
        return configuration.Section<TransportConfig>("transport") is RabbitMqTransportConfig rabbitMq
            ? new RabbitMqTransport(
                rabbitMq, configuration.Name, configuration.Named<TopicConfig>("topics"), EndpointsOf(configuration),
                new BodyLimits(limits.MaxBodySize.Bytes, limits.ClaimCheck.Bytes), provider.GetRequiredService<IClaimCheckStore>(), time, loggers)
            : new MemoryTransport(limits.InFlight, time, loggers.CreateLogger<MemoryTransport>());
    }

    private static IEnumerable<Subscription> EndpointsOf(EsbConfiguration configuration) =>
        configuration.Named<EndpointConfig>("endpoints").Values.OfType<OutboundEndpointConfig>().Select(Subscription.Of);

    private static IUnroutableMessages FindUnroutable(IServiceProvider provider) => provider.GetRequiredService<ITopicTransport>() switch
    {
        RabbitMqTransport rabbitMq => rabbitMq.Unroutable,
        MemoryTransport memory => memory.Unroutable,
        var other => throw new InvalidOperationException($"{other.GetType().Name} is no transport of ours."),
    };

    private static IFarm CreateFarm(IServiceProvider provider) => provider.GetRequiredService<ITopicTransport>() is RabbitMqTransport transport
        ? transport.Farm
        : new LoneFarm(provider.GetRequiredService<ILogger<LoneFarm>>());

    private static TopicPublisher CreatePublisher(IServiceProvider provider) => new TopicPublisher(
        provider.GetRequiredService<ITopicTransport>(),
        provider.GetRequiredService<TopicKeys>(),
        provider.GetRequiredService<IAuditTrail>(),
        provider.GetRequiredService<EsbConfiguration>().Section<LimitsConfig>("limits"),
        provider.GetRequiredService<TimeProvider>());
}
