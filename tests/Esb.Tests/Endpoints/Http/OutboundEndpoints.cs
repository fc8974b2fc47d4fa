using Esb.Configuration;
using Esb.Core.Endpoints;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Endpoints.Http;

/// <summary>Makes outbound endpoints of a configuration that was read.</summary>
internal static class OutboundEndpoints
{
    public static IOutboundAdapter Create(HttpBus bus, string name)
    {
        Assert.That(bus.Errors.All, Is.Empty);
        return bus.Adapters[name]!();
    }

    public static OutboundEndpointConfig ConfigOf(HttpBus bus, string name) =>
        (OutboundEndpointConfig)bus.Services.GetRequiredService<EsbConfiguration>().Named<EndpointConfig>("endpoints")[name];
}
