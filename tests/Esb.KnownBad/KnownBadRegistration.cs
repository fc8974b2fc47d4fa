using Esb.Core.Endpoints;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;

namespace Esb.KnownBad;

/// <summary>Puts the broken service before the working one.</summary>
internal static class KnownBadRegistration
{
    public static IServiceCollection AcknowledgeTooEarly(this IServiceCollection services)
    {
        foreach (var type in services.Where(service => service.ServiceType == typeof(IEndpointType)).ToList())
        {
            services.Remove(type);
            services.AddSingleton(provider => Break((IEndpointType)ActivatorUtilities.CreateInstance(provider, type.ImplementationType!)));
        }

        return services;
    }

    public static IServiceCollection SetClock(this IServiceCollection services, TimeSpan ahead) =>
        services.Replace(ServiceDescriptor.Singleton<TimeProvider>(new WrongClock(ahead)));

    private static IEndpointType Break(IEndpointType type) => type is IOutboundEndpointType outbound ? new HastyEndpointType(outbound) : type;
}
