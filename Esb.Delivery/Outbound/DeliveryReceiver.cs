using System.Diagnostics;
using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Processes;
using Esb.Core.Topics;
using Esb.Delivery.Attempts;
using Esb.Delivery.SingleInstance;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Outbound;

/// <summary>Receives each delivery of an endpoint, bounds the time it may be held, and passes it to the delivery mode of the current
/// revision. Thread-safe.</summary>
/// <param name="config">The endpoint: its name, <c>delivery</c> and whether it answers, which no revision changes.</param>
/// <param name="system">The messaging system, for telemetry.</param>
/// <param name="first">The first revision.</param>
/// <param name="state">The state of the endpoint.</param>
/// <param name="journal">Records outcomes.</param>
/// <param name="audit">Holds deliveries back while outcomes cannot be recorded.</param>
/// <param name="time">The clock.</param>
/// <param name="logger">The log.</param>
internal sealed partial class DeliveryReceiver(
    OutboundEndpointConfig config,
    string system,
    DeliveryRevision first,
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
    private volatile DeliveryRevision _revision = first;

    /// <summary>The current revision.</summary>
    public DeliveryRevision Revision => _revision;

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
        using var leaving = CancellationTokenSource.CreateLinkedTokenSource([
            _stopping.Token,
            interrupted,
            held.Token,
            delivery.Source.Lost,
            aborting.Token,
        ]);
        var settlement = await ReceiveAsync(delivery, leaving.Token, aborting.Token, lease);
        if (settlement != Settlement.Return || !held.IsCancellationRequested)
            state.MoveOn(); // a returned message may block another host next
        return settlement;
    }

    /// <summary>Exchanges the revision: attempts under way end on the old one, the next attempts are made on the new one. Deliveries that
    /// wait for an attempt keep their place.</summary>
    public async Task ExchangeAsync(DeliveryRevision next)
    {
        var old = _revision;
        _revision = next;
        await old.SupersedeAsync();
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

    private async Task<Settlement> ReceiveAsync(
        TopicDelivery delivery,
        CancellationToken leaving,
        CancellationToken aborting,
        HeldLease? lease
    )
    {
        using var activity = DeliveryTelemetry.Start(delivery, system, config.Name);
        var attempts = new DeliveryAttempts(delivery.Message, delivery.Failures, time);
        MaskedFlow.Follow(journal.Mask, delivery.Message);
        state.Begin();
        try
        {
            while (true)
            {
                var revision = _revision;
                using var waiting = CancellationTokenSource.CreateLinkedTokenSource(leaving, revision.Superseded);
                var tokens = new DeliveryTokens(waiting.Token, leaving, aborting, lease);
                var settlement = await DeliverAsync(revision, delivery, attempts, tokens);
                // Not returned to its queue for other settings: it would lose its place, and the broker would count a redelivery.
                if (settlement != Settlement.Return || !revision.Superseded.IsCancellationRequested || leaving.IsCancellationRequested)
                    return settlement;
                await Task.Yield(); // not on the thread of the exchange
            }
        }
        finally
        {
            state.End();
            activity?.SetStatus(attempts.Last is null ? ActivityStatusCode.Unset : ActivityStatusCode.Error, attempts.Last?.Code);
            DeliveryTelemetry.Record(system, config.Name, attempts.Elapsed, attempts.Last?.Code);
        }
    }

    private async Task<Settlement> DeliverAsync(
        DeliveryRevision revision,
        TopicDelivery delivery,
        DeliveryAttempts attempts,
        DeliveryTokens tokens
    )
    {
        try
        {
            if (delivery.Reply is null)
                await audit.WaitAsync(tokens.Waiting); // the broker keeps messages meanwhile; a request's time-out already runs
            if (delivery.Kind == DeliveryKind.Release)
                return await revision.Mode.ReleaseAsync(delivery, tokens);
            // A message that an operator replays has passed the filter before, or was sent here on purpose.
            if (delivery.Kind == DeliveryKind.Replay || revision.Filter?.Holds(new MessageContext(delivery.Message, config.Name)) != false)
                return await revision.Mode.DeliverAsync(delivery, attempts, tokens);
            await journal.RecordAsync(attempts, AuditKind.Filtered, null, tokens);
            return Settlement.Done;
        }
        catch (OperationCanceledException) when (tokens.Waiting.IsCancellationRequested || tokens.Lease is { IsHeld: false })
        {
            return Settlement.Return;
        }
        catch (EsbException ex)
        {
            // A recording failure, not a failure of the external system: an unrecorded message must not be acknowledged.
            LogNotRecorded(delivery.Message.Id, config.Name, ex);
            return await ReturnSlowlyAsync(tokens.Leaving);
        }
    }

    // Prevents a busy redelivery loop of a message that cannot be processed now.
    private async Task<Settlement> ReturnSlowlyAsync(CancellationToken leaving)
    {
        try
        {
            await Task.Delay(Patience.Pace, time, leaving);
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
