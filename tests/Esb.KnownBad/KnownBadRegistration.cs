using Esb.Core.Topics;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.KnownBad;

/// <summary>Puts the broken service before the working one.</summary>
internal static class KnownBadRegistration
{
    public static IServiceCollection AcknowledgeTooEarly(this IServiceCollection services)
    {
        var working = services.Single(service => service.ServiceType == typeof(ITopicTransport));
        services.Remove(working);
        return services.AddSingleton<ITopicTransport>(provider => new HastyTransport((ITopicTransport)working.ImplementationFactory!(provider)));
    }
}
