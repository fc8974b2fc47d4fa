using Esb.Core.Topics;

namespace Esb.Topics.RabbitMq.Farm;

/// <summary>Announces to the other hosts what this host receives for an endpoint, until disposed. Thread-safe.</summary>
internal sealed class EndpointPresence : IDisposable
{
    private readonly BrokerFarm _farm;
    private readonly FarmReceiver _resting;

    public EndpointPresence(BrokerFarm farm, Subscription subscription)
    {
        (_farm, _resting) = (farm, new FarmReceiver(subscription.Endpoint, Topology.EndpointRecord.PatternsOf(subscription), Epoch: null));
        Rests();
    }

    /// <summary>Announces that this host began to consume: on the broker it queues behind all earlier consumers.</summary>
    public void Consumes() => _farm.Announce(_resting.Endpoint, _resting with { Epoch = Guid.NewGuid() });

    /// <summary>Announces that this host does not consume for now.</summary>
    public void Rests() => _farm.Announce(_resting.Endpoint, _resting);

    public void Dispose() => _farm.Announce(_resting.Endpoint, null);
}
