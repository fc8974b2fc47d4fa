using Esb.Core.Topics;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>A channel that receives deliveries, from its opening to its loss. Thread-safe.</summary>
internal sealed class ChannelSession
{
    private readonly CancellationTokenSource _lost;

    public ChannelSession(IChannel channel, int lane, TimeProvider time)
    {
        _lost = new CancellationTokenSource(Timeout.InfiniteTimeSpan, time);
        Channel = channel;
        Source = new DeliverySource(lane, Guid.NewGuid(), _lost.Token);
        channel.ChannelShutdownAsync += (_, _) => _lost.CancelAsync();
        if (!channel.IsOpen)
            _lost.Cancel(); // closed before the event handler was attached
    }

    public IChannel Channel { get; }

    public DeliverySource Source { get; }

    public bool IsOpen => Channel.IsOpen && !_lost.IsCancellationRequested;

    /// <summary>Abandons the channel after a delay, whatever is in progress; an infinite delay revokes that.</summary>
    public void LoseAfter(TimeSpan delay) => _lost.CancelAfter(delay);

    /// <summary>Closes the channel: the broker takes back all its unsettled deliveries, in order.</summary>
    /// <remarks>Cancelling the consumer instead would let the next consumer overtake the deliveries that are still here.</remarks>
    public Task CloseAsync() => Channel.CloseAsync(Constants.ReplySuccess, "deliveries returned", abort: true, CancellationToken.None);
}
