using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.KnownBad;

/// <summary>A type of outbound endpoint whose instances are broken: at one endpoint, or at all.</summary>
/// <param name="inner">The type as it is.</param>
/// <param name="endpoint">The name of the endpoint; null for all.</param>
/// <param name="send">Sends in place of the instances.</param>
internal sealed class BrokenEndpointType(IOutboundEndpointType inner, string? endpoint, BrokenSend send) : IOutboundEndpointType
{
    public Type Settings => inner.Settings;

    public CreateOutbound? Compile(OutboundEndpointConfig settings, ConfigErrors errors)
    {
        if (inner.Compile(settings, errors) is not { } create)
            return null;
        return endpoint is null || settings.Name == endpoint ? services => new BrokenAdapter(create(services), send) : create;
    }

    private sealed class BrokenAdapter(IOutboundAdapter inner, BrokenSend send) : IOutboundAdapter
    {
        public IOutboundEndpoint CreateInstance() => new BrokenEndpoint(inner, send);

        public void Resize(int poolSize, int processingThreads) => inner.Resize(poolSize, processingThreads);

        public EndpointException? FailureOf(EsbMessage answer) => inner.FailureOf(answer);

        public ValueTask DisposeAsync() => inner.DisposeAsync();
    }

    private sealed class BrokenEndpoint(IOutboundAdapter adapter, BrokenSend send) : IOutboundEndpoint
    {
        public ValueTask<EsbMessage?> SendAsync(EsbMessage message, CancellationToken cancellationToken) =>
            send(adapter, message, cancellationToken);
    }
}
