using Esb.Core.Topics;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>A channel that deliveries come over, from its opening to its loss. Thread-safe.</summary>
internal sealed class ChannelSession
{
    private readonly CancellationTokenSource _lost;

    public ChannelSession(IChannel channel, int lane, TimeProvider time)
    {
        _lost = new CancellationTokenSource(Timeout.InfiniteTimeSpan, time);
        Channel = channel;
        Source = new DeliverySource(lane, Guid.NewGuid(), _lost.Token);
        channel.ChannelShutdownAsync += (_, _) => _lost.CancelAsync();
        if (!channel.IsOpen) _lost.Cancel(); // closed before anybody listened
    }

    public IChannel Channel { get; }

    public DeliverySource Source { get; }

    public bool IsOpen => Channel.IsOpen && !_lost.IsCancellationRequested;

    /// <summary>Gives the channel up after a while, whatever is under way; an infinite while takes it back.</summary>
    public void LoseAfter(TimeSpan delay) => _lost.CancelAfter(delay);

    /// <summary>Closes the channel: the broker takes back all that came over it unsettled, in its order.</summary>
    /// <remarks>Cancelling the consumer instead would let the next one overtake what is still here.</remarks>
    public Task CloseAsync() => Channel.CloseAsync(Constants.ReplySuccess, "deliveries returned", abort: true, CancellationToken.None);
}
