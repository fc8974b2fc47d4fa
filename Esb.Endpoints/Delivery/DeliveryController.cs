using System.Diagnostics;
using Esb.Core.Audit;
using Esb.Core.Diagnostics;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Delivery;

/// <summary>Delivers the messages of one outbound endpoint. The one place that decides on attempts, delays, order and dead letters.</summary>
/// <remarks>Thread-safe: <c>processingThreads</c> deliveries come at once; each rents one of <c>poolSize</c> instances.</remarks>
internal sealed partial class DeliveryController(
    OutboundEndpointConfig config,
    string type,
    EndpointSender sender,
    IMessageCondition? filter,
    ITopicTransport transport,
    IAuditTrail audit,
    TimeProvider time,
    ILogger<DeliveryController> logger) : IAsyncDisposable
{
    // A delivery that is held longer might run into the broker's acknowledgement timeout (30 min by default).
    private static readonly TimeSpan LongestHold = TimeSpan.FromMinutes(10);

    // A message that stands still is not a load on the outside, however short its retry delays are.
    private static readonly TimeSpan ShortestStandstill = TimeSpan.FromSeconds(60);

    private readonly RetryLadder _ladder = new(config.Retry);
    private readonly OutageGate _gate = new(time);
    private readonly DeliveryState _state = new(time);
    private readonly DuplicateRecords _duplicates = new(config.Name, audit, time, logger);
    private readonly CancellationTokenSource _stopping = new();
    private readonly CancellationTokenSource _aborting = new();
    private ITopicSubscription? _subscription;

    private bool IsOrdered => config.Delivery != DeliveryMode.Parallel;

    private FailureAction OnFailure => config.OnFailure ?? (IsOrdered ? FailureAction.Park : FailureAction.DeadLetter);

    public EndpointStatus Status =>
        _state.Describe(config, type, _gate.Reason, config.Subscribe.Count == 0 || _subscription?.IsLive == true) with { Pool = sender.Pool };

    public async Task StartAsync(CancellationToken cancellationToken)
    {
        if (config.Subscribe.Count == 0) return;
        var prefetch = config.Prefetch ?? Math.Max(32, 2 * Math.Min(config.PoolSize, config.ProcessingThreads));
        var subscription = new Subscription(config.Name, config.Subscribe, config.ProcessingThreads, prefetch, IsOrdered, config.Queue, IsOrdered ? [] : config.Retry.Delays);
        _subscription = await transport.SubscribeAsync(subscription, HandleAsync, cancellationToken);
    }

    /// <summary>Lets deliveries under way finish; those that wait for something go back to their queue. A cancelled token aborts them.</summary>
    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await _stopping.CancelAsync();
        await using var abort = cancellationToken.Register(static state => ((CancellationTokenSource)state!).Cancel(), _aborting);
        if (_subscription is not null) await _subscription.DisposeAsync();
        _subscription = null;
    }

    /// <summary>Sends without a queue. A message that the endpoint applied before is recorded as such, and has no answer.</summary>
    public async ValueTask<EsbMessage?> CallAsync(EsbMessage message, IUnitOfWork? unitOfWork, CancellationToken cancellationToken)
    {
        var answer = await sender.SendAsync(message, unitOfWork, cancellationToken);
        if (DuplicateNotice.Read(answer) is not { } notice) return answer;
        await _duplicates.RecordAsync(message, notice, duration: null, CancellationToken.None);
        return null;
    }

    public async ValueTask DisposeAsync()
    {
        await sender.DisposeAsync();
        _stopping.Dispose();
        _aborting.Dispose();
    }

    private async ValueTask<Settlement> HandleAsync(TopicDelivery delivery, CancellationToken cancellationToken)
    {
        if (_stopping.IsCancellationRequested) return Settlement.Return;
        using var activity = DeliveryTelemetry.Start(delivery, transport.System, config.Name);
        using var aborting = CancellationTokenSource.CreateLinkedTokenSource(_aborting.Token, cancellationToken);
        using var waiting = CancellationTokenSource.CreateLinkedTokenSource(_stopping.Token, aborting.Token);
        var attempts = new DeliveryAttempts(delivery, time);
        _state.Begin();
        try
        {
            if (filter?.Holds(new MessageContext(delivery.Message, config.Name)) == false)
            {
                await RecordAsync(delivery.Message, AuditKind.Filtered, aborting.Token);
                return Settlement.Done;
            }

            return await AttemptAsync(attempts, waiting.Token, aborting.Token);
        }
        catch (OperationCanceledException) when (waiting.IsCancellationRequested)
        {
            return Settlement.Return;
        }
        catch (EsbException ex)
        {
            // Not the outside failed but we: nothing may be acknowledged that is not recorded.
            LogNotRecorded(delivery.Message.Id, config.Name, ex);
            await DelayAsync(TimeSpan.FromSeconds(1), waiting.Token);
            return Settlement.Return;
        }
        finally
        {
            _state.End();
            activity?.SetStatus(attempts.Last is null ? ActivityStatusCode.Unset : ActivityStatusCode.Error, attempts.Last?.Code);
            DeliveryTelemetry.Record(transport.System, config.Name, attempts.Elapsed, attempts.Last?.Code);
        }
    }

    private async Task<Settlement> AttemptAsync(DeliveryAttempts attempts, CancellationToken waiting, CancellationToken aborting)
    {
        while (true)
        {
            var isProbe = await _gate.EnterAsync(waiting);
            attempts.Begin();
            var (answer, failure) = await TrySendAsync(attempts.Current, isProbe, aborting);
            if (failure is null) return await CompleteAsync(attempts, answer, aborting);
            attempts.Doubt(failure);
            if (failure is EndpointException { IsOutage: true } && attempts.Delivery.Reply is null)
            {
                if (_gate.Missed(failure.Message, isProbe)) LogPaused(config.Name, failure.Message);
                attempts.Forget(); // the outside is away: no attempt of this message
                if (!IsOrdered && attempts.Elapsed > LongestHold) return Settlement.Return;
                continue;
            }

            ReachedOutside();
            attempts.Fail(failure);
            if (await DecideAsync(attempts, failure, waiting, aborting) is { } settlement) return settlement;
        }
    }

    // Only what the endpoint does is caught here: a fact that cannot be recorded is no failed attempt.
    private async Task<(EsbMessage? Answer, EsbException? Failure)> TrySendAsync(EsbMessage message, bool isProbe, CancellationToken aborting)
    {
        try
        {
            var answer = await sender.SendAsync(message, unitOfWork: null, aborting);
            return (answer, answer is null ? null : sender.Adapter.FailureOf(answer));
        }
        catch (EsbException failure)
        {
            return (null, failure);
        }
        catch (OperationCanceledException)
        {
            if (isProbe) _gate.Abandon();
            throw;
        }
    }

    private async Task<Settlement> CompleteAsync(DeliveryAttempts attempts, EsbMessage? answer, CancellationToken aborting)
    {
        ReachedOutside();
        attempts.Succeed();
        if (DuplicateNotice.Read(answer) is { } notice) return await CompleteDuplicateAsync(attempts, notice, aborting);
        var reply = answer is null ? null : attempts.Delivery.Reply;
        var kind = reply is null ? AuditKind.Delivered : await reply(answer!, aborting) ? AuditKind.Replied : AuditKind.ReplyAbandoned;
        await RecordAsync(attempts.Current, kind, aborting, attempts.Elapsed);
        return Done();
    }

    // Where an attempt of this delivery ended without word, the endpoint recognises what that very attempt did.
    private async Task<Settlement> CompleteDuplicateAsync(DeliveryAttempts attempts, DuplicateNotice notice, CancellationToken aborting)
    {
        if (attempts.IsUnknown && !notice.IsConflict) await RecordAsync(attempts.Current, AuditKind.Delivered, aborting, attempts.Elapsed);
        else await _duplicates.RecordAsync(attempts.Current, notice, attempts.Elapsed, aborting);
        return Done();
    }

    private Settlement Done()
    {
        _state.StoppedAt = null;
        _state.CountMessage();
        return Settlement.Done;
    }

    // Null means: try again now.
    private async Task<Settlement?> DecideAsync(DeliveryAttempts attempts, EsbException failure, CancellationToken waiting, CancellationToken aborting)
    {
        _state.CountFailure();
        var message = attempts.Current;
        var isRequest = attempts.Delivery.Reply is not null;
        var next = isRequest ? _ladder.AfterRequest(attempts.Count, failure) : _ladder.After(attempts.Count, failure);
        LogFailed(message.Id, config.Name, attempts.Count, failure.Code, failure.Message);
        await RecordAsync(message, AuditKind.Failed, aborting, attempts.Elapsed, failure);
        switch (next)
        {
            case NextAttempt.Now:
                return null;
            case NextAttempt.After after when !IsOrdered:
                return new Settlement.Later(after.Delay, attempts.Count);
            case NextAttempt.After after:
                await DelayAsync(after.Delay, waiting);
                return null;
            default:
                return isRequest ? await FaultAsync(attempts, failure, aborting) : await GiveUpAsync(attempts, failure, waiting, aborting);
        }
    }

    private async Task<Settlement?> GiveUpAsync(DeliveryAttempts attempts, EsbException failure, CancellationToken waiting, CancellationToken aborting)
    {
        var message = attempts.Current;
        switch (OnFailure)
        {
            case FailureAction.Park:
                await StandStillAsync(message, failure, waiting);
                return null;
            case FailureAction.Discard:
                await RecordAsync(message, AuditKind.Discarded, aborting, attempts.Elapsed, failure);
                return Settlement.Done;
            default:
                await RecordAsync(message, AuditKind.DeadLettered, aborting, attempts.Elapsed, failure);
                LogDeadLettered(message.Id, config.Name, attempts.Count, failure.Code, failure.Message);
                DeliveryTelemetry.CountDeadLetter(config.Name, failure.Code);
                return new Settlement.Divert(attempts.ToDeadLetter(config.Name, failure));
        }
    }

    // The order is kept by going nowhere: the message stays the next one, and is tried again now and then.
    private async Task StandStillAsync(EsbMessage message, EsbException failure, CancellationToken waiting)
    {
        if (_state.StoppedAt is null) LogStopped(config.Name, message.Id, failure.Code, failure.Message);
        _state.StoppedAt = $"stopped at message {message.Id}: {failure.Code}: {failure.Message}";
        var last = config.Retry.Delays.DefaultIfEmpty().Max();
        await DelayAsync(last > ShortestStandstill ? last : ShortestStandstill, waiting);
    }

    private async Task<Settlement> FaultAsync(DeliveryAttempts attempts, EsbException failure, CancellationToken aborting)
    {
        var isAwaited = await attempts.Delivery.Reply!(FaultReply.Of(attempts.Current, failure, time), aborting);
        await RecordAsync(attempts.Current, isAwaited ? AuditKind.Replied : AuditKind.ReplyAbandoned, aborting, attempts.Elapsed, failure);
        return Settlement.Done;
    }

    private void ReachedOutside()
    {
        if (_gate.Reached()) LogResumed(config.Name);
    }

    private Task DelayAsync(TimeSpan delay, CancellationToken cancellationToken) => Task.Delay(delay, time, cancellationToken);

    private ValueTask RecordAsync(EsbMessage message, AuditKind kind, CancellationToken cancellationToken, TimeSpan? duration = null, EsbException? failure = null) =>
        audit.RecordAsync(
            AuditFacts.Of(message, kind, time) with { Endpoint = config.Name, Duration = duration, Code = failure?.Code, Reason = failure?.Message },
            cancellationToken);
}
