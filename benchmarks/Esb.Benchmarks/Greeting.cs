using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Messages;

namespace Esb.Benchmarks;

/// <summary>An endpoint that answers at once: what is left is what the caller costs.</summary>
internal sealed record GreetingConfig : OutboundEndpointConfig;

internal sealed class GreetingType : OutboundEndpointType<GreetingConfig>
{
    protected override CreateOutbound? Compile(GreetingConfig settings, ConfigErrors errors) => _ => new GreetingAdapter();
}

internal sealed class GreetingAdapter : IOutboundAdapter
{
    public IOutboundEndpoint CreateInstance() => new Instance();

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;

    private sealed class Instance : IOutboundEndpoint
    {
        private static readonly MessageBody Greeting = MessageBody.FromText("""{"greeting":"hello"}""");

        public ValueTask<EsbMessage?> SendAsync(EsbMessage message, CancellationToken cancellationToken) =>
            new(message with { Body = Greeting, ContentType = "application/json" });
    }
}
