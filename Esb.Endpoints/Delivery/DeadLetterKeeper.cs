using Esb.Core;
using Esb.Core.Storage;
using Esb.Core.Topics;

namespace Esb.Endpoints.Delivery;

/// <summary>Moves dead letters from the transport's hand-off into the store, where they can be listed; one that cannot be stored stays with the transport.</summary>
internal sealed class DeadLetterKeeper(ITopicTransport transport, IDeadLetterStore store) : IBusPart
{
    private ITopicReader? _reader;

    public BusStage Stage => BusStage.Outbound;

    public async Task StartAsync(CancellationToken cancellationToken) =>
        _reader = await transport.ReadDeadLettersAsync(async (letter, token) => await store.AddAsync(letter, token), cancellationToken);

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        if (_reader is not null) await _reader.DisposeAsync();
    }
}
