using Esb.Configuration.Compiling;
using Esb.Core.Endpoints;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;

namespace Esb.KnownBad;

/// <summary>Puts the broken service before the working one.</summary>
internal static class KnownBadRegistration
{
    /// <param name="services">The services of the host.</param>
    /// <param name="endpoint">The endpoint that sends so; null for all.</param>
    /// <param name="send">How it sends.</param>
    public static IServiceCollection BreakEndpoints(this IServiceCollection services, string? endpoint, BrokenSend send) =>
        services.Exchange(type => type is IOutboundEndpointType outbound ? new BrokenEndpointType(outbound, endpoint, send) : type);

    /// <param name="services">The services of the host.</param>
    /// <param name="endpoint">The endpoint that cannot be made.</param>
    public static IServiceCollection UnmakeEndpoint(this IServiceCollection services, string endpoint) =>
        services.Exchange(type =>
            type switch
            {
                IOutboundEndpointType outbound => new UnmadeEndpointType(outbound, endpoint),
                IInboundEndpointType inbound => new UnmadeInboundType(inbound, endpoint),
                _ => type,
            }
        );

    private static IServiceCollection Exchange(this IServiceCollection services, Func<IEndpointType, IEndpointType> exchange)
    {
        foreach (
            var registered in services
                .Where(service =>
                    service.ImplementationInstance is CompileService { Descriptor.ServiceType: var type } && type == typeof(IEndpointType)
                )
                .ToList()
        )
        {
            var working = ((CompileService)registered.ImplementationInstance!).Descriptor.ImplementationType!;
            services.Remove(registered);
            services.AddCompiling(
                ServiceDescriptor.Singleton(provider => exchange((IEndpointType)ActivatorUtilities.CreateInstance(provider, working)))
            );
        }

        return services;
    }

    public static IServiceCollection SetClock(this IServiceCollection services, TimeProvider clock) =>
        services.Replace(ServiceDescriptor.Singleton(clock));
}
