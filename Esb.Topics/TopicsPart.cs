using Esb.Core;
using Esb.Core.Topics;

namespace Esb.Topics;

/// <summary>Starts and stops the transport with the bus, and tells whether it can take messages.</summary>
internal sealed class TopicsPart(ITopicTransport transport) : IBusPart, IHealthCheck
{
    public BusStage Stage => BusStage.Topics;

    public string Name => "topics";

    public Task StartAsync(CancellationToken cancellationToken) => transport.StartAsync(cancellationToken);

    public Task StopAsync(CancellationToken cancellationToken) => transport.DisposeAsync().AsTask();

    public ValueTask<string?> CheckAsync(CancellationToken cancellationToken)
    {
        var status = transport.Status;
        return ValueTask.FromResult(status.IsReady ? null : status.Reason ?? "not ready");
    }
}
