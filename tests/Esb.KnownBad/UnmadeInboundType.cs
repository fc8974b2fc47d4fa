using Esb.Core.Configuration;
using Esb.Core.Endpoints;

namespace Esb.KnownBad;

/// <summary>A type of inbound endpoint of which one cannot start, and needs half a second to find out.</summary>
/// <param name="inner">The type as it is.</param>
/// <param name="endpoint">The name of the endpoint.</param>
internal sealed class UnmadeInboundType(IInboundEndpointType inner, string endpoint) : IInboundEndpointType
{
    public Type Settings => inner.Settings;

    public CreateInbound? Compile(InboundEndpointConfig settings, ConfigErrors errors)
    {
        var create = inner.Compile(settings, errors);
        return settings.Name == endpoint ? (_, _) => new LateFailure() : create;
    }

    private sealed class LateFailure : IInboundEndpoint
    {
        public string? Reason => null;

        public async Task StartAsync(CancellationToken cancellationToken)
        {
            await Task.Delay(TimeSpan.FromMilliseconds(500), cancellationToken);
            throw new InvalidOperationException("its library is missing");
        }

        public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

        public ValueTask DisposeAsync() => ValueTask.CompletedTask;
    }
}
