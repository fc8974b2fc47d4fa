using Esb.Core.Endpoints;
using Esb.Core.Messages;

namespace Esb.Delivery.Processes;

/// <summary>The shared state of the instances of an endpoint of type <c>process</c>. All state is shared, because a process keeps nothing
/// between messages.</summary>
internal sealed class ProcessAdapter(DeliveredProcess process) : IOutboundAdapter, IOutboundEndpoint
{
    public IOutboundEndpoint CreateInstance() => this;

    public async ValueTask<EsbMessage?> SendAsync(EsbMessage message, CancellationToken cancellationToken) =>
        await process.AnswerAsync(message, cancellationToken);

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
