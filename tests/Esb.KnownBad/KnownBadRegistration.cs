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
        services.Exchange(type => new BrokenEndpointType(type, endpoint, send));

    /// <param name="services">The services of the host.</param>
    /// <param name="endpoint">The endpoint that cannot be made.</param>
    public static IServiceCollection UnmakeEndpoint(this IServiceCollection services, string endpoint) =>
        services.Exchange(type => new UnmadeEndpointType(type, endpoint));

    private static IServiceCollection Exchange(this IServiceCollection services, Func<IOutboundEndpointType, IEndpointType> exchange)
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
                ServiceDescriptor.Singleton(provider =>
                    Exchange((IEndpointType)ActivatorUtilities.CreateInstance(provider, working), exchange)
                )
            );
        }

        return services;
    }

    public static IServiceCollection SetClock(this IServiceCollection services, TimeSpan ahead) =>
        services.Replace(ServiceDescriptor.Singleton<TimeProvider>(new WrongClock(ahead)));

    private static IEndpointType Exchange(IEndpointType type, Func<IOutboundEndpointType, IEndpointType> exchange) =>
        type is IOutboundEndpointType outbound ? exchange(outbound) : type;
}
