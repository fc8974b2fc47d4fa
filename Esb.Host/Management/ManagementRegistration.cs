using Esb.Core;
using Esb.Host.Management.Events;
using Esb.Host.Management.Farm;
using Esb.Host.Management.Flow;
using Esb.Host.Management.Traces;

namespace Esb.Host.Management;

internal static class ManagementRegistration
{
    /// <summary>The event stream of the host, and what feeds it; the description of its farm, and its traces.</summary>
    public static IServiceCollection AddManagementEvents(this IServiceCollection services) =>
        services
            .AddSingleton<EventStream>()
            .AddSingleton<ILoggerProvider, LogEvents>()
            .AddSingleton<IBusPart, EventSampler>()
            .AddSingleton<QueueLengths>()
            .AddSingleton<IBusPart>(provider => provider.GetRequiredService<QueueLengths>())
            .AddSingleton<FarmHosts>()
            .AddSingleton<IBusPart>(provider => provider.GetRequiredService<FarmHosts>())
            .AddSingleton<FarmTraces>()
            .AddSingleton<IBusPart>(provider => provider.GetRequiredService<FarmTraces>());
}
