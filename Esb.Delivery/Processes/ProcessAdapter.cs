using Esb.Core.Endpoints;
using Esb.Core.Messages;

namespace Esb.Delivery.Processes;

/// <summary>What the instances of an endpoint of the type <c>process</c> share: all of it, as a process keeps nothing between
/// messages.</summary>
internal sealed class ProcessAdapter(DeliveredProcess process) : IOutboundAdapter, IOutboundEndpoint
{
    public IOutboundEndpoint CreateInstance() => this;

    public async ValueTask<EsbMessage?> SendAsync(EsbMessage message, CancellationToken cancellationToken) => await process.AnswerAsync(message, cancellationToken);

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
