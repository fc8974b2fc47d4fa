using System.Threading.Channels;
using Esb.Core.Topics;

namespace Esb.IntegrationTests.Topics;

/// <summary>A handler that keeps what it gets, and settles each delivery as the test says.</summary>
internal sealed class Inbox(Func<TopicDelivery, Settlement>? settle = null)
{
    private readonly Channel<TopicDelivery> _deliveries = Channel.CreateUnbounded<TopicDelivery>();

    public ValueTask<Settlement> HandleAsync(TopicDelivery delivery, CancellationToken cancellationToken)
    {
        _deliveries.Writer.TryWrite(delivery);
        return ValueTask.FromResult(settle?.Invoke(delivery) ?? Settlement.Done);
    }

    public async Task<TopicDelivery> NextAsync(CancellationToken cancellationToken) =>
        await _deliveries.Reader.ReadAsync(cancellationToken);

    public async Task<List<TopicDelivery>> NextAsync(int count, CancellationToken cancellationToken)
    {
        var deliveries = new List<TopicDelivery>();
        while (deliveries.Count < count)
            deliveries.Add(await NextAsync(cancellationToken));
        return deliveries;
    }

    public bool TryNext(out TopicDelivery? delivery) => _deliveries.Reader.TryRead(out delivery);
}
