using Esb.Core;
using Esb.Core.Endpoints;
using Esb.Endpoints.Intake.Overload;
using Esb.Endpoints.SingleInstance;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Endpoints.Intake;

/// <summary>What takes messages in, whatever the protocol.</summary>
internal static class IntakeRegistration
{
    public static IServiceCollection AddIntake(this IServiceCollection services) => services
        .AddSingleton<IntakeStates>()
        .AddSingleton<IntakeFactory>()
        .AddSingleton<MemoryMarks>()
        .AddSingleton<OverloadGate>()
        .AddSingleton(SingleInstances.Of)
        .AddSingleton<IConfigurationCheck, SingleInstanceCheck>()
        .AddSingleton<InboundEndpoints>()
        .AddSingleton<IEndpointMonitor>(provider => provider.GetRequiredService<InboundEndpoints>())
        .AddSingleton<IConfigurationCheck>(provider => provider.GetRequiredService<InboundEndpoints>())
        .AddSingleton<IBusPart>(provider => provider.GetRequiredService<InboundEndpoints>());
}
