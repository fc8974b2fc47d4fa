using MassTransit;
using MassTransit.RabbitMqTransport;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq;

/// <summary>Knows the channel that the bus consumes on, now and after each reconnect of its own.</summary>
internal sealed class ConsumerChannel : IFilter<ChannelContext>
{
    private volatile IChannel? _channel;

    public bool IsOpen => _channel is { IsOpen: true };

    public void Probe(ProbeContext context) => context.CreateFilterScope("consumer-channel");

    public Task Send(ChannelContext context, IPipe<ChannelContext> next)
    {
        _channel = context.Channel;
        return next.Send(context);
    }

    /// <summary>Closes the channel: the broker takes back all that came over it unsettled, in its order.</summary>
    /// <remarks>Not to be awaited by a delivery: the close itself waits for deliveries.</remarks>
    public Task CloseAsync() => _channel?.CloseAsync(Constants.ReplySuccess, "deliveries returned", abort: true, CancellationToken.None) ?? Task.CompletedTask;
}
