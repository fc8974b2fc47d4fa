using Esb.Configuration.Compiling;
using Esb.Configuration.Rules;
using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Expressions;
using Esb.Core.Listening;
using Esb.Core.Parties;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Configuration;

/// <summary>Registers the sections that every configuration has, regardless of the loaded assemblies.</summary>
public static class ConfigurationRegistration
{
    /// <summary>Registers the sections of the vocabulary, and refuses those that are designed but not implemented yet.</summary>
    public static IServiceCollection AddEsbConfiguration(this IServiceCollection services) =>
        services
            .AddSection<string>(
                "name",
                "The name of this configuration: in the names of its queues, shown to people and in telemetry.",
                "\"esb\"",
                needsRestart: true
            )
            .AddSection<TransportConfig>("transport", "What carries the topics.", needsRestart: true)
            .AddSection<StoreConfig>("store", "Where audit facts and dead letters are kept.", needsRestart: true)
            .AddSection<IReadOnlyDictionary<string, ConnectionConfig>>("connections", "Databases of external systems.")
            .AddSection<IReadOnlyDictionary<string, TopicConfig>>("topics", "Where publishers and subscribers meet.")
            .AddSection<IReadOnlyDictionary<string, PartyConfig>>(
                "parties",
                "Applications and partners: how each proves who it is, and what it may publish and subscribe to."
            )
            .AddSection<IReadOnlyDictionary<string, EndpointConfig>>("endpoints", "Adapters between the bus and external systems.")
            .AddSection<IReadOnlyDictionary<string, IReadOnlyList<StepConfig>>>("processes", "Lists of steps that messages run through.")
            .AddSection<LimitsConfig>("limits", "Limits that protect the host from single messages and from load.")
            .AddSection<HostConfig>("host", "What may differ from host to host.")
            .FixSettings("host", "roles", "minThreads")
            .AddFixedModel(compiling => new BusIdentity(compiling.GetRequiredService<EsbConfiguration>().Name))
            .AddModel(compiling => new ReferenceVariables(compiling.GetRequiredService<EsbConfiguration>().Variables))
            .AddModel(provider => new PartyDirectory(provider.GetRequiredService<IReadOnlyDictionary<string, PartyConfig>>()))
            .AddRule<PartyRule>()
            .AddRule<DeliveryRule>()
            .AddRule<RoleRule>()
            .AddRule<WatermarkRule>()
            .AddRule<ListeningRule>()
            .AddModel(_ => new SequenceUses())
            .AddCompiler<EndpointModels, EndpointCompiler>()
            .AddModel(provider => new ListeningPlaces([.. provider.GetServices<IListeningPart>().SelectMany(part => part.Places)]))
            .AddUnavailableSections("policies")
            .AddUnavailable<EndpointConfig>("ftp-inbound", "mail-inbound", "ftp-outbound");
}
