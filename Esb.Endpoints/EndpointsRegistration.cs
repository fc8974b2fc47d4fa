using Esb.Core;
using Esb.Core.Endpoints;
using Esb.Endpoints.Delivery;
using Esb.Endpoints.Http;
using Esb.Endpoints.Intake;
using Esb.Endpoints.Replay;
using Esb.Endpoints.Sql;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Endpoints;

/// <summary>Adapters between the bus and the outside.</summary>
public static class EndpointsRegistration
{
    /// <summary>Registers the endpoint types, the intake of messages and their delivery.</summary>
    public static IServiceCollection AddEsbEndpoints(this IServiceCollection services) => services
        .AddEndpointTypes().AddHttpEndpoints().AddIntake().AddBusTables().AddDelivery().AddOutboxes().AddReplay();

    private static IServiceCollection AddDelivery(this IServiceCollection services) => services
        .AddSingleton<Suspects>()
        .AddSingleton<DeliveryServices>()
        .AddSingleton<OutboundEndpoints>()
        .AddSingleton<IEndpointCaller>(provider => provider.GetRequiredService<OutboundEndpoints>())
        .AddSingleton<IEndpointControl, EndpointControl>()
        .AddSingleton<IEndpointMonitor>(provider => provider.GetRequiredService<OutboundEndpoints>())
        .AddSingleton<IConfigurationCheck>(provider => provider.GetRequiredService<OutboundEndpoints>())
        .AddSingleton<DeadLetterKeeper>()
        .AddSingleton<IBusPart>(provider => provider.GetRequiredService<DeadLetterKeeper>()) // before the endpoints, so that it stops after them
        .AddSingleton<IBusPart>(provider => provider.GetRequiredService<OutboundEndpoints>())
        .AddSingleton<FarmTuning>()
        .AddSingleton<IFarmTuning>(provider => provider.GetRequiredService<FarmTuning>())
        .AddSingleton<IBusPart>(provider => provider.GetRequiredService<FarmTuning>())
        .AddSingleton<IBusPart, QueueHolds>();
}
