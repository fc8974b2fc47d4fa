using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Marks;
using Esb.Core.Topics;

namespace Esb.Delivery.Marks;

/// <summary>The messages that wait in the queues of endpoints with <c>waitingHigh</c>.</summary>
internal sealed class WaitingMarks(Live<EndpointModels> endpoints, ITopicTransport transport) : IMarkSource
{
    public TimeSpan Interval => TimeSpan.FromSeconds(2);

    public async ValueTask<IReadOnlyList<MarkMeasure>> MeasureAsync(CancellationToken cancellationToken)
    {
        var measures = new List<MarkMeasure>();
        foreach (var endpoint in endpoints.Current.Outbound.Select(model => model.Config))
        {
            if (endpoint is not { Enabled: true, WaitingHigh: { } high, Subscribe.Count: > 0 })
                continue;
            if (await transport.CountWaitingAsync(Subscription.Of(endpoint), cancellationToken) is { } waiting)
                measures.Add(new MarkMeasure(MarkNames.Waiting, endpoint.Name, waiting, high, endpoint.WaitingLow ?? high / 2, "messages"));
            else if (transport.IsDurable) // otherwise the mark would be forgotten, and cross again
                throw new EsbException("ESB-TOPIC-UNAVAILABLE", "The queues cannot be counted: not connected.", FaultKind.Unavailable);
        }

        return measures;
    }
}
