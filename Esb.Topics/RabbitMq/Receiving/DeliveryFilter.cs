using MassTransit;
using MassTransit.RabbitMqTransport;

namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>Takes deliveries from the bus's receive pipe before anything else does, and never passes them on.</summary>
/// <remarks>When it returns, the bus acknowledges; when it throws, the bus gives the message back at once. It can do neither by itself.</remarks>
internal sealed class DeliveryFilter(DeliveryWork work, TimeProvider time) : IFilter<ReceiveContext>
{
    // So that a handler which returns everything does not turn in a circle with the broker.
    private static readonly TimeSpan ReturnPause = TimeSpan.FromMilliseconds(250);

    private readonly CancellationTokenSource _stopping = new();
    private readonly CancellationTokenSource _aborting = new();
    private readonly InFlight _inFlight = new();
    private long _count;

    /// <summary>Deliveries that came.</summary>
    public long Count => Volatile.Read(ref _count);

    /// <summary>Whether one is under way.</summary>
    public bool IsBusy => _inFlight.Count > 0;

    /// <summary>The channel that the deliveries come over.</summary>
    public ConsumerChannel Channel { get; } = new(time);

    public void Probe(ProbeContext context) => context.CreateFilterScope("delivery");

    public async Task Send(ReceiveContext context, IPipe<ReceiveContext> next)
    {
        var basic = context.GetPayload<RabbitMqBasicConsumeContext>();
        var source = Channel.SourceOf(context.GetPayload<ChannelContext>().Channel);
        var wire = new WireMessage(basic.Exchange, basic.RoutingKey ?? "", basic.Properties, context.Body.GetBytes(), context.Redelivered);
        Interlocked.Increment(ref _count);
        using var counted = _inFlight.Begin();
        try
        {
            _stopping.Token.ThrowIfCancellationRequested();
            if (await work.TrySettleAsync(wire, source, _stopping.Token, _aborting.Token)) return;
            await Task.Delay(ReturnPause, time, _stopping.Token);
        }
        catch (OperationCanceledException) when (_stopping.IsCancellationRequested)
        {
            // It goes back.
        }

        throw new DeliveryReturnedException();
    }

    /// <summary>From now on nothing is begun or held any more; completes when what was under way has ended.</summary>
    public async Task StopAsync()
    {
        await _stopping.CancelAsync();
        await _inFlight.EndedAsync();
    }

    /// <summary>Also tells what is under way to stop: its channel is lost, so that it cannot be settled.</summary>
    public async Task AbortAsync()
    {
        await _stopping.CancelAsync();
        await _aborting.CancelAsync();
    }
}

/// <summary>Tells the bus to give a message back to the broker.</summary>
internal sealed class DeliveryReturnedException() : Exception("The message goes back to its queue.");
