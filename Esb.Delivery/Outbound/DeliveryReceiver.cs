using System.Diagnostics;
using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Processes;
using Esb.Core.Topics;
using Esb.Delivery.Attempts;
using Esb.Delivery.Modes;
using Esb.Delivery.SingleInstance;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Outbound;

/// <summary>Receives each delivery of an endpoint, bounds the time it may be held, and passes it to the endpoint's delivery mode.
/// Thread-safe.</summary>
internal sealed partial class DeliveryReceiver(
    OutboundEndpointConfig config,
    string system,
    IMessageCondition? filter,
    IDeliveryMode mode,
    DeliveryState state,
    DeliveryJournal journal,
    IAuditGate audit,
    TimeProvider time,
    ILogger<DeliveryReceiver> logger
) : IDisposable
{
    // A delivery held longer might exceed the broker's acknowledgement timeout (30 min by default).
    // Ordered delivery may wait for its retries, up to 15 min, before it stops at the message.
    private static readonly TimeSpan LongestHold = TimeSpan.FromMinutes(10);
    private static readonly TimeSpan LongestOrderedHold = TimeSpan.FromMinutes(18);

    private readonly CancellationTokenSource _stopping = new();
    private readonly CancellationTokenSource _aborting = new();
    private CancellationTokenSource _interrupting = new();

    private TimeSpan Hold => config.Delivery == DeliveryMode.Ordered ? LongestOrderedHold : LongestHold;

    /// <param name="delivery">The delivery.</param>
    /// <param name="lease">The lease under which it was received; null if any host may deliver.</param>
    /// <param name="cancellationToken">Also aborts the send in progress.</param>
    public async ValueTask<Settlement> ReceiveAsync(TopicDelivery delivery, HeldLease? lease, CancellationToken cancellationToken)
    {
        var interrupted = Volatile.Read(ref _interrupting).Token;
        if (_stopping.IsCancellationRequested || interrupted.IsCancellationRequested)
            return Settlement.Return;
        if (!config.Answers)
            delivery = delivery with { Reply = null, ExpiresAt = null }; // another subscriber answers
        using var held = new CancellationTokenSource(Hold, time);

        // Ordered delivery must have no further effect once another host may own the message. In other modes a duplicate is the worst case,
        // so the send may finish.
        var lost = config.Delivery == DeliveryMode.Parallel ? CancellationToken.None : delivery.Source.Lost;
        using var aborting = CancellationTokenSource.CreateLinkedTokenSource([
            _aborting.Token,
            cancellationToken,
            lost,
            lease?.Lost ?? CancellationToken.None,
        ]);
        using var waiting = CancellationTokenSource.CreateLinkedTokenSource([
            _stopping.Token,
            interrupted,
            held.Token,
            delivery.Source.Lost,
            aborting.Token,
        ]);
        var settlement = await ReceiveAsync(delivery, new DeliveryTokens(waiting.Token, aborting.Token, lease));
        if (settlement == Settlement.Return && !held.IsCancellationRequested)
            state.StandsAt = null; // it may block another host next
        return settlement;
    }

    /// <summary>Returns waiting deliveries to their queue and starts nothing new.</summary>
    public Task StopAsync() => _stopping.CancelAsync();

    /// <summary>Also aborts the sends in progress.</summary>
    public Task AbortAsync() => _aborting.CancelAsync();

    /// <summary>Returns waiting deliveries to their queue until <see cref="Resume"/>.</summary>
    public Task InterruptAsync() => Volatile.Read(ref _interrupting).CancelAsync();

    public void Resume() => Volatile.Write(ref _interrupting, new CancellationTokenSource());

    public void Dispose()
    {
        _stopping.Dispose();
        _aborting.Dispose();
        _interrupting.Dispose();
    }

    private async Task<Settlement> ReceiveAsync(TopicDelivery delivery, DeliveryTokens tokens)
    {
        using var activity = DeliveryTelemetry.Start(delivery, system, config.Name);
        var attempts = new DeliveryAttempts(delivery.Message, delivery.Failures, time);
        MaskedFlow.Follow(journal.Mask, delivery.Message);
        state.Begin();
        try
        {
            if (delivery.Reply is null)
                await audit.WaitAsync(tokens.Waiting); // the broker keeps messages meanwhile; a request's time-out already runs
            return delivery.Kind == DeliveryKind.Release
                ? await mode.ReleaseAsync(delivery, tokens)
                : await DeliverAsync(delivery, attempts, tokens);
        }
        catch (OperationCanceledException) when (tokens.Waiting.IsCancellationRequested || tokens.Lease is { IsHeld: false })
        {
            return Settlement.Return;
        }
        catch (EsbException ex)
        {
            // A recording failure, not a failure of the external system: an unrecorded message must not be acknowledged.
            LogNotRecorded(delivery.Message.Id, config.Name, ex);
            return await ReturnSlowlyAsync(tokens.Waiting);
        }
        finally
        {
            state.End();
            activity?.SetStatus(attempts.Last is null ? ActivityStatusCode.Unset : ActivityStatusCode.Error, attempts.Last?.Code);
            DeliveryTelemetry.Record(system, config.Name, attempts.Elapsed, attempts.Last?.Code);
        }
    }

    private async Task<Settlement> DeliverAsync(TopicDelivery delivery, DeliveryAttempts attempts, DeliveryTokens tokens)
    {
        // A message that an operator replays has passed the filter before, or was sent here on purpose.
        if (delivery.Kind == DeliveryKind.Replay || filter?.Holds(new MessageContext(delivery.Message, config.Name)) != false)
            return await mode.DeliverAsync(delivery, attempts, tokens);
        await journal.RecordAsync(attempts, AuditKind.Filtered, null, tokens);
        return Settlement.Done;
    }

    // Prevents a busy redelivery loop of a message that cannot be processed now.
    private async Task<Settlement> ReturnSlowlyAsync(CancellationToken waiting)
    {
        try
        {
            await Task.Delay(Patience.Pace, time, waiting);
        }
        catch (OperationCanceledException)
        {
            // The message returns earlier.
        }

        return Settlement.Return;
    }

    [LoggerMessage(
        EventId = 2406,
        Level = LogLevel.Error,
        Message = "Message {MessageId} of {Endpoint} goes back to its queue: its outcome could not be recorded"
    )]
    private partial void LogNotRecorded(Guid messageId, string endpoint, Exception exception);
}
