using Esb.Core.Configuration;
using Esb.Core.Endpoints;

namespace Esb.KnownBad;

/// <summary>A type of outbound endpoint that cannot make one of its endpoints, as a plug-in whose library is missing.</summary>
/// <param name="inner">The type as it is.</param>
/// <param name="endpoint">The name of the endpoint.</param>
internal sealed class UnmadeEndpointType(IOutboundEndpointType inner, string endpoint) : IOutboundEndpointType
{
    public Type Settings => inner.Settings;

    public CreateOutbound? Compile(OutboundEndpointConfig settings, ConfigErrors errors)
    {
        var create = inner.Compile(settings, errors);
        return settings.Name == endpoint ? _ => throw new InvalidOperationException("its library is missing") : create;
    }
}
