using Esb.Core.Topics;

namespace Esb.Topics.RabbitMq.Farm;

/// <summary>Tells the other hosts what this one receives for an endpoint, until it is disposed. Thread-safe.</summary>
internal sealed class EndpointPresence : IDisposable
{
    private readonly BrokerFarm _farm;
    private readonly FarmReceiver _resting;

    public EndpointPresence(BrokerFarm farm, Subscription subscription)
    {
        (_farm, _resting) = (farm, new FarmReceiver(subscription.Endpoint, Topology.EndpointRecord.PatternsOf(subscription), Epoch: null));
        Rests();
    }

    /// <summary>It began to consume: on the broker it stands behind all others that did before.</summary>
    public void Consumes() => _farm.Announce(_resting.Endpoint, _resting with { Epoch = Guid.NewGuid() });

    /// <summary>It does not consume for now.</summary>
    public void Rests() => _farm.Announce(_resting.Endpoint, _resting);

    public void Dispose() => _farm.Announce(_resting.Endpoint, null);
}
