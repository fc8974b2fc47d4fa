using Esb.Configuration.Compiling;
using Esb.Configuration.Revisions;
using Esb.Core;
using Esb.Core.Endpoints;
using Esb.Core.Marks;
using Esb.Delivery.Intake.Holds;
using Esb.Delivery.Intake.Overload;
using Esb.Delivery.Marks;
using Esb.Delivery.SingleInstance;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Delivery.Intake;

/// <summary>Registration of the message intake, independent of the protocol.</summary>
public static class IntakeRegistration
{
    /// <summary>Registers the inbound endpoints and their message intake.</summary>
    public static IServiceCollection AddIntake(this IServiceCollection services) =>
        services
            .AddSingleton<IntakeStates>()
            .AddScoped<IntakeFactory>()
            .AddScoped<IIntakes>(provider => provider.GetRequiredService<IntakeFactory>())
            .AddSingleton<MemoryMarks>()
            .AddSingleton<OverloadGate>()
            .AddSingleton(provider => new Lazy<IMarks>(provider.GetRequiredService<IMarks>)) // which measures the gate itself
            .AddSingleton<MarkKeeper>()
            .AddSingleton<IMarks>(provider => provider.GetRequiredService<MarkKeeper>())
            .AddSingleton<IBusPart>(provider => provider.GetRequiredService<MarkKeeper>())
            .AddSingleton<IHealthNotices>(provider => provider.GetRequiredService<MarkKeeper>())
            .AddSingleton<IMarkSource, OverloadMarks>()
            .AddSingleton<IMarkSource, WaitingMarks>()
            .AddSingleton<ProcessorLoad>()
            .AddSingleton<IMarkSource, ProcessorMarks>()
            .AddSingleton<IntakeHolds>()
            .AddSingleton<Admissions>()
            .AddSingleton<InboundControl>()
            .AddRule<ScheduleRule>()
            .AddSingleton(SingleInstances.Of)
            .AddSingleton<InboundEndpoints>()
            .AddSingleton<IRevisionPart>(provider => provider.GetRequiredService<InboundEndpoints>())
            .AddSingleton<IEndpointMonitor>(provider => provider.GetRequiredService<InboundEndpoints>())
            .AddSingleton<IBusPart>(provider => provider.GetRequiredService<InboundEndpoints>());
}
