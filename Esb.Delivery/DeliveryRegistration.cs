using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Configuration.Revisions;
using Esb.Core;
using Esb.Core.Alerts;
using Esb.Core.Endpoints;
using Esb.Core.Storage;
using Esb.Delivery.Alerting;
using Esb.Delivery.Attempts;
using Esb.Delivery.Control;
using Esb.Delivery.Crashes;
using Esb.Delivery.Failures;
using Esb.Delivery.Outbound;
using Esb.Delivery.Processes;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Delivery;

/// <summary>Registration of delivery from topics to external systems, independent of the protocol.</summary>
public static class DeliveryRegistration
{
    /// <summary>Registers the outbound endpoints and their delivery.</summary>
    public static IServiceCollection AddDelivery(this IServiceCollection services) =>
        services
            .AddEndpointType<ProcessEndpointType, ProcessEndpointConfig>("process", "Runs a process on each message that it subscribes to.")
            .AddCompiling<IEndpointType, HeldEndpointType>()
            .AddRule<EndpointProcessRule>()
            .AddRule<PropertyReachRule>()
            .AddSingleton<CrashQuarantine>()
            .AddSingleton<IBusPart>(provider => provider.GetRequiredService<CrashQuarantine>())
            .AddSingleton<IHealthNotices>(provider => provider.GetRequiredService<CrashQuarantine>())
            .AddSingleton<AlertPublisher>()
            .AddSingleton<IAlerts>(provider => provider.GetRequiredService<AlertPublisher>())
            .AddSingleton<IBusPart>(provider => provider.GetRequiredService<AlertPublisher>())
            .AddSingleton<Suspects>()
            .AddSingleton<DeliveryServices>()
            .AddSingleton<OutboundEndpoints>()
            .AddSingleton<IEndpointCaller>(provider => provider.GetRequiredService<OutboundEndpoints>())
            .AddSingleton<IEndpointControl, EndpointControl>()
            .AddSingleton<IEndpointMonitor>(provider => provider.GetRequiredService<OutboundEndpoints>())
            .AddSingleton<DeadLetterKeeper>()
            .AddSingleton<IBusPart>(provider => provider.GetRequiredService<DeadLetterKeeper>())
            .AddSingleton<IDeadLetterChannel>(provider => provider.GetRequiredService<DeadLetterKeeper>())
            .AddSingleton<IBusPart>(provider => provider.GetRequiredService<OutboundEndpoints>())
            .AddSingleton<IRevisionPart>(provider => provider.GetRequiredService<OutboundEndpoints>())
            .AddSingleton<TunedEndpoints>()
            .AddSingleton<TuningBook>()
            .AddSingleton<TuningFacts>()
            .AddSingleton<IBusPart, TuningKeeper>()
            .AddSingleton<FarmTuning>()
            .AddSingleton<IHealthNotices>(provider => provider.GetRequiredService<FarmTuning>())
            .AddSingleton<IFarmTuning>(provider => provider.GetRequiredService<FarmTuning>())
            .AddSingleton<IBusPart>(provider => provider.GetRequiredService<FarmTuning>())
            .AddSingleton<IBusPart, QueueHolds>();
}
