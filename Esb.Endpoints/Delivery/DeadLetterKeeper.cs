using Esb.Core;
using Esb.Core.Storage;
using Esb.Core.Topics;

namespace Esb.Endpoints.Delivery;

/// <summary>Moves dead letters from the transport's hand-off into the store, where they can be listed; one that cannot be stored stays with the transport.</summary>
internal sealed class DeadLetterKeeper(ITopicTransport transport, IDeadLetterStore store) : IBusPart
{
    private ITopicSubscription? _subscription;

    public BusStage Stage => BusStage.Outbound;

    public async Task StartAsync(CancellationToken cancellationToken) =>
        _subscription = await transport.ReadDeadLettersAsync(async (letter, token) => await store.AddAsync(letter, token), cancellationToken);

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        if (_subscription is not null) await _subscription.DisposeAsync();
    }
}
