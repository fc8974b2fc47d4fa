using Esb.Configuration;
using Esb.Core;
using Esb.Core.Endpoints;
using Esb.Core.Replays;
using Esb.Delivery.Replay.Audited;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Delivery.Replay;

/// <summary>Registration of operators' actions on dead letters and parked messages.</summary>
public static class ReplayRegistration
{
    /// <summary>Registers the replay of dead letters.</summary>
    public static IServiceCollection AddReplay(this IServiceCollection services) =>
        services
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
            .AddSingleton<IHealthNotices>(provider => provider.GetRequiredService<BacklogMonitor>())
            .AddSingleton<IBacklogMonitor>(provider => provider.GetRequiredService<BacklogMonitor>())
            .AddSingleton<IBusPart>(provider => provider.GetRequiredService<BacklogMonitor>())
            .AddSingleton<IBusPart, ReplayRunner>();
}
