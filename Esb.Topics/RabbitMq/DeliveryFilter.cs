using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Topics;
using MassTransit;
using MassTransit.RabbitMqTransport;
using Microsoft.Extensions.Logging;

namespace Esb.Topics.RabbitMq;

/// <summary>Takes deliveries from the bus's receive pipe before anything else does, and never passes them on.</summary>
/// <remarks>When it returns, the bus acknowledges; when it throws, the bus gives the message back at once. It can do neither by itself.</remarks>
internal sealed partial class DeliveryFilter(
    Subscription subscription, DeliveryHandler handler, WireReader reader, DeliverySettler settler, long maxBodyBytes, TimeProvider time, ILogger logger)
    : IFilter<ReceiveContext>
{
    // So that a handler which returns everything does not turn in a circle with the broker.
    private static readonly TimeSpan ReturnPause = TimeSpan.FromMilliseconds(250);

    private readonly CancellationTokenSource _stopping = new();
    private readonly CancellationTokenSource _aborting = new();
    private readonly SemaphoreSlim _alone = new(1, 1);
    private Task _closing = Task.CompletedTask;

    /// <summary>The channel that the deliveries come over.</summary>
    public ConsumerChannel Channel { get; } = new();

    public void Probe(ProbeContext context) => context.CreateFilterScope("delivery");

    public async Task Send(ReceiveContext context, IPipe<ReceiveContext> next)
    {
        if (!subscription.SingleActive)
        {
            await DeliverAsync(context);
            return;
        }

        // After a lost connection the broker delivers again what is still under way here.
        await _alone.WaitAsync();
        try
        {
            await DeliverAsync(context);
        }
        finally
        {
            _alone.Release();
        }
    }

    /// <summary>From now on nothing is begun or held any more; what is under way goes on.</summary>
    public Task StopAsync() => _stopping.CancelAsync();

    /// <summary>Also stops what is under way: its channel is lost, so that it cannot be settled.</summary>
    public async Task AbortAsync()
    {
        await _stopping.CancelAsync();
        await _aborting.CancelAsync();
    }

    /// <summary>Completes when a channel that had to be closed is closed.</summary>
    public Task ClosedAsync() => _closing;

    private async Task DeliverAsync(ReceiveContext context)
    {
        var source = context.GetPayload<RabbitMqBasicConsumeContext>();
        var wire = new WireMessage(source.Exchange, source.RoutingKey ?? "", source.Properties, context.Body.GetBytes());
        try
        {
            do
            {
                _stopping.Token.ThrowIfCancellationRequested();
                if (await TrySettleAsync(wire)) return;
                await Task.Delay(ReturnPause, time, _stopping.Token);
            }
            while (subscription.SingleActive); // in order it goes back by staying: a quorum queue would put it behind those already on their way
        }
        catch (OperationCanceledException) when (_stopping.IsCancellationRequested)
        {
            if (subscription.SingleActive) _closing = Channel.CloseAsync();
        }

        throw new DeliveryReturnedException();
    }

    // False: it goes back. Nothing else may leave: an exception would make the bus return the message at once, again and again.
    private async Task<bool> TrySettleAsync(WireMessage wire)
    {
        try
        {
            return await SettleAsync(wire);
        }
        catch (Exception ex) when (ex is not OperationCanceledException || !_stopping.IsCancellationRequested)
        {
            LogReturned(wire.Properties.MessageId, subscription.Endpoint, ex);
            return false;
        }
    }

    private async Task<bool> SettleAsync(WireMessage wire)
    {
        var message = reader.Read(wire, subscription.Endpoint);
        var parent = WireReader.Parent(wire);
        var settlement = Refuse(message) ?? await handler(
            new TopicDelivery(message, parent, settler.ReplierTo(wire, message)) { Failures = reader.ReadFailures(wire, subscription.Endpoint) }, _aborting.Token);
        switch (settlement)
        {
            case Settlement.ReturnSettlement:
                return false;
            case Settlement.Later later:
                await settler.DeferAsync(subscription, message, parent, wire.Properties.ReplyTo, later, _stopping.Token);
                return true;
            case Settlement.Divert divert:
                await settler.DivertAsync(divert.Letter, parent, _stopping.Token);
                return true;
            default:
                return true;
        }
    }

    // What foreign clients may publish, but we could neither work on nor write again.
    private Settlement.Divert? Refuse(EsbMessage message)
    {
        if (message.Body.Length > maxBodyBytes) return Divert(message, "ESB-AMQP-SIZE", $"The body is larger than {maxBodyBytes} bytes.");
        return WireLimits.ExcessOf(message) is { } excess
            ? Divert(message with { Headers = Core.Messages.MessageHeaders.Empty, Key = null }, "ESB-HDR-LIMIT", $"{excess} They were dropped.")
            : null;
    }

    private Settlement.Divert Divert(EsbMessage message, string code, string reason)
    {
        var now = time.GetUtcNow();
        return new Settlement.Divert(new DeadLetter(message, subscription.Endpoint, code, reason, null, 0, now, now));
    }

    [LoggerMessage(EventId = 1520, Level = LogLevel.Error, Message = "Message {MessageId} could not be settled at {Endpoint}; it goes back to its queue")]
    private partial void LogReturned(string? messageId, string endpoint, Exception exception);
}

/// <summary>Tells the bus to give a message back to the broker.</summary>
internal sealed class DeliveryReturnedException() : Exception("The message goes back to its queue.");
