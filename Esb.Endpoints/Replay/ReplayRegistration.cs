using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Replays;
using Esb.Endpoints.Replay.Audited;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Endpoints.Replay;

/// <summary>What operators do with dead letters and parked messages.</summary>
internal static class ReplayRegistration
{
    /// <summary>Registers the replay of dead letters. Comes after the delivery, so that it starts after the endpoints whose queues it sends to, and stops before them.</summary>
    public static IServiceCollection AddReplay(this IServiceCollection services) => services
        .AddSingleton(provider => provider.GetRequiredService<EsbConfiguration>().Named<EndpointConfig>("endpoints").Values.OfType<OutboundEndpointConfig>())
        .AddSingleton<ReplayTargets>()
        .AddSingleton<ReplaySignal>()
        .AddSingleton<ReplayServices>()
        .AddSingleton<IDeadLetterDesk, ReplayDesk>()
        .AddSingleton<ReplayKeys>()
        .AddSingleton<IAuditReplayDesk, AuditReplayDesk>()
        .AddSingleton<Standstills>()
        .AddSingleton<IBusPart>(provider => provider.GetRequiredService<Standstills>())
        .AddSingleton<IParkingDesk, ParkingDesk>()
        .AddSingleton<BacklogMonitor>()
        .AddSingleton<IBacklogMonitor>(provider => provider.GetRequiredService<BacklogMonitor>())
        .AddSingleton<IBusPart>(provider => provider.GetRequiredService<BacklogMonitor>())
        .AddSingleton<IBusPart, ReplayRunner>();
}
