using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Listening;
using Esb.Core.Parties;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Core;

/// <summary>What every configuration has, whatever is loaded beside it.</summary>
public static class CoreRegistration
{
    /// <summary>Registers the sections of the vocabulary, and refuses what is designed but not built yet.</summary>
    public static IServiceCollection AddEsbCore(this IServiceCollection services) => services
        .AddSection<string>("name", "The name of this configuration, shown to people and in telemetry.", "\"esb\"")
        .AddSection<TransportConfig>("transport", "What carries the topics.")
        .AddSection<StoreConfig>("store", "Where audit facts and dead letters are kept.")
        .AddSection<IReadOnlyDictionary<string, ConnectionConfig>>("connections", "Databases of the outside.")
        .AddSection<IReadOnlyDictionary<string, TopicConfig>>("topics", "Where publishers and subscribers meet.")
        .AddSection<IReadOnlyDictionary<string, PartyConfig>>("parties", "Applications and partners: how each proves who it is, and what it may publish and subscribe to.")
        .AddSection<IReadOnlyDictionary<string, EndpointConfig>>("endpoints", "Adapters between the bus and the outside.")
        .AddSection<IReadOnlyDictionary<string, IReadOnlyList<StepConfig>>>("processes", "Lists of steps that messages run through.")
        .AddSection<LimitsConfig>("limits", "What keeps one message, or many, from taking the host down.")
        .AddSingleton(provider => provider.GetRequiredService<EsbConfiguration>().Section<LimitsConfig>("limits"))
        .AddSingleton<PartyDirectory>()
        .AddSingleton<IConfigurationCheck, PartyCheck>()
        .AddSingleton<IConfigurationCheck, DeliveryCheck>()
        .AddSingleton<IConfigurationCheck, HeaderCheck>()
        .AddSingleton<IConfigurationCheck, WatermarkCheck>()
        .AddSingleton<IConfigurationCheck, ListeningCheck>()
        .AddUnavailableSections("workflows", "itineraries", "policies", "formats")
        .AddUnavailable<EndpointConfig>(
            "soap-inbound", "sql-inbound", "amqp-inbound", "ftp-inbound", "sftp-inbound", "mail-inbound", "timer-inbound",
            "soap-outbound", "amqp-outbound", "ftp-outbound", "sftp-outbound", "mail-outbound")
        .AddUnavailable<StepConfig>(
            "convert", "split", "aggregate", "scatter", "recipients", "resequence", "enrich",
            "applyPolicy", "itinerary", "delay", "throttle", "custom");
}
