using Esb.Core.Topics;
using MassTransit;
using MassTransit.RabbitMqTransport;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>Knows the channel that the bus consumes on, now and after each reconnect of its own, and whether its consumer works.</summary>
internal sealed class ConsumerChannel(TimeProvider time) : IFilter<ChannelContext>, IReceiveEndpointObserver
{
    private volatile ChannelSession? _session;
    private volatile bool _isConsuming;

    /// <summary>The channel of this host's consumer; null where it has none, whoever else consumes the queue.</summary>
    public ChannelSession? Open => _isConsuming && _session is { IsOpen: true } session ? session : null;

    public void Probe(ProbeContext context) => context.CreateFilterScope("consumer-channel");

    public Task Send(ChannelContext context, IPipe<ChannelContext> next)
    {
        _session = new ChannelSession(context.Channel, lane: 0, time);
        return next.Send(context);
    }

    /// <summary>Where a delivery of this channel comes from; lost where another channel has taken its place.</summary>
    public DeliverySource SourceOf(IChannel channel) =>
        _session is { } session && ReferenceEquals(session.Channel, channel) ? session.Source : new DeliverySource(0, Guid.NewGuid(), new CancellationToken(canceled: true));

    public Task Ready(ReceiveEndpointReady ready)
    {
        _isConsuming = true;
        return Task.CompletedTask;
    }

    public Task Stopping(ReceiveEndpointStopping stopping) => EndAsync();

    public Task Completed(ReceiveEndpointCompleted completed) => EndAsync();

    public Task Faulted(ReceiveEndpointFaulted faulted) => EndAsync();

    private Task EndAsync()
    {
        _isConsuming = false;
        return Task.CompletedTask;
    }
}
