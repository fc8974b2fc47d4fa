using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Messages;

namespace Esb.KnownBad;

/// <summary>A type of outbound endpoint that says "done" when its work begins: its messages are acknowledged before the effect is there.</summary>
internal sealed class HastyEndpointType(IOutboundEndpointType inner) : IOutboundEndpointType
{
    public Type Settings => inner.Settings;

    public void Check(EndpointConfig settings, ConfigErrors errors) => inner.Check(settings, errors);

    public IOutboundAdapter Create(OutboundEndpointConfig settings) => new HastyAdapter(inner.Create(settings));

    private sealed class HastyAdapter(IOutboundAdapter inner) : IOutboundAdapter
    {
        public IOutboundEndpoint CreateInstance() => new HastyEndpoint(inner);

        public ValueTask DisposeAsync() => inner.DisposeAsync();
    }

    private sealed class HastyEndpoint(IOutboundAdapter adapter) : IOutboundEndpoint
    {
        public ValueTask<EsbMessage?> SendAsync(EsbMessage message, CancellationToken cancellationToken)
        {
            _ = Task.Run(async () => await adapter.CreateInstance().SendAsync(message, CancellationToken.None), CancellationToken.None);
            return ValueTask.FromResult<EsbMessage?>(null);
        }
    }
}
