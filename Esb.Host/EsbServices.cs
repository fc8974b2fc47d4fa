using Esb.Audit;
using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Configuration.Revisions;
using Esb.Content;
using Esb.Core;
using Esb.Core.Listening;
using Esb.Core.Workflows;
using Esb.Endpoints;
using Esb.Host.Composition;
using Esb.Host.Logging;
using Esb.Host.Management;
using Esb.Host.Metrics;
using Esb.Host.Reloading;
using Esb.Host.Telemetry;
using Esb.Host.Versions;
using Esb.Storage;
using Esb.Topics;
using Esb.Workflows;

namespace Esb.Host;

/// <summary>The registrations of all parts of a bus: one line for each project.</summary>
internal static class EsbServices
{
    public static IServiceCollection AddEsb(this IServiceCollection services) =>
        services
            .AddEsbConfiguration()
            .AddEsbContent()
            .AddEsbTopics()
            .AddEsbStorage()
            .AddEsbAudit()
            .AddEsbEndpoints()
            .AddEsbWorkflows()
            .AddEsbHost();

    /// <summary>The configuration sections of the host itself.</summary>
    public static IServiceCollection AddEsbHost(this IServiceCollection services) =>
        services
            .AddManagementEvents()
            .AddSection<ManagementConfig>("management", "The management API.")
            .FixSettings("management", "url", "tls", "configuration")
            .AddSection<TelemetryConfig>("telemetry", "Traces, metrics and logs of the host.")
            .FixSettings("telemetry", "otlp", "logFormat")
            .AddSingleton<MetricsCollector>()
            .AddSingleton<IBusPart>(provider => provider.GetRequiredService<MetricsCollector>())
            .AddSingleton<IRevisionPart>(provider => provider.GetRequiredService<MetricsCollector>())
            .AddSingleton<IBusPart, CallGauges>()
            .AddSingleton<FarmLogLevels>()
            .AddSingleton<IBusPart>(provider => provider.GetRequiredService<FarmLogLevels>())
            .AddSingleton<RevisionExchange>()
            .AddSingleton<IPinnedDefinitions, PinnedDefinitions>()
            .AddSingleton<OtherHosts>()
            .AddSingleton<RevisionPlan>()
            .AddSingleton<VersionReader>()
            .AddSingleton<VersionLedger>()
            .AddSingleton<VersionDesk>()
            .AddSingleton<StartFailures>()
            .AddSingleton<LateStarts>()
            .AddSingleton<IBusPart, StartingVersionCheck>()
            .AddSingleton<VersionKeeper>()
            .AddSingleton<IBusPart>(provider => provider.GetRequiredService<VersionKeeper>())
            .AddSingleton<IHealthNotices>(provider => provider.GetRequiredService<VersionKeeper>())
            .AddSingleton<ReloadDesk>()
            .AddSingleton<IHealthNotices>(provider => provider.GetRequiredService<ReloadDesk>())
            .AddSingleton<IBusPart, ReloadPart>()
            .AddRule<ManagementRule>()
            .AddCompiling<IListeningPart, ManagementRule>()
            .AddRule<TelemetryRule>();
}
