using System.Diagnostics;
using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Topics;
using Esb.Endpoints.Delivery.Modes;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Delivery;

/// <summary>Takes the deliveries of one outbound endpoint and hands them to its mode. Here and below is the one place that decides on attempts, delays, order and dead letters.</summary>
/// <remarks>Thread-safe: <c>processingThreads</c> deliveries come at once; each rents one of <c>poolSize</c> instances.</remarks>
internal sealed partial class DeliveryController : IAsyncDisposable
{
    // A delivery that waits longer might run into the broker's acknowledgement timeout (30 min by default). In order it may wait for its retries, up to 15 min, before it stands still.
    private static readonly TimeSpan LongestHold = TimeSpan.FromMinutes(10);
    private static readonly TimeSpan LongestOrderedHold = TimeSpan.FromMinutes(18);

    private readonly OutboundEndpointConfig _config;
    private readonly string _type;
    private readonly EndpointSender _sender;
    private readonly IMessageCondition? _filter;
    private readonly DeliveryServices _services;
    private readonly DeliveryState _state;
    private readonly OutageGate _gate;
    private readonly DeliveryJournal _journal;
    private readonly IDeliveryMode _mode;
    private readonly ILogger _logger;
    private readonly CancellationTokenSource _stopping = new();
    private readonly CancellationTokenSource _aborting = new();
    private ITopicSubscription? _subscription;
    private volatile EndpointTuning _current;

    public DeliveryController(OutboundEndpointConfig config, string type, EndpointSender sender, IMessageCondition? filter, DeliveryServices services)
    {
        (_config, _type, _sender, _filter, _services) = (config, type, sender, filter, services);
        _current = Configured = new EndpointTuning
        {
            PoolSize = config.PoolSize,
            ProcessingThreads = config.ProcessingThreads,
            Prefetch = config.Prefetch ?? Math.Max(32, 2 * Math.Min(config.PoolSize, config.ProcessingThreads)),
            Paused = false,
        };
        var (time, loggers) = (services.Time, services.Loggers);
        _logger = loggers.CreateLogger<DeliveryController>();
        _state = new DeliveryState(time);
        _gate = new OutageGate(time);
        var patience = new Patience(config.Name, _state, time, loggers.CreateLogger<Patience>());
        _journal = new DeliveryJournal(config.Name, services.Audit, _state, patience, time, loggers.CreateLogger<DeliveryJournal>());
        var ladder = new RetryLadder(config.Retry);
        var attempter = new Attempter(config.Name, sender, _gate, ladder, services.Suspects, _journal, time, loggers.CreateLogger<Attempter>());
        var requests = new RequestDelivery(config, attempter, _gate, ladder, _journal, time);
        var lastResort = new LastResort(config.Name, config.OnFailure ?? FailureAction.DeadLetter, _journal);
        _mode = config.Delivery switch
        {
            DeliveryMode.Ordered => new OrderedDelivery(config, attempter, requests, lastResort, services.Suspects, _journal, _state, time, loggers.CreateLogger<OrderedDelivery>()),
            _ => new ParallelDelivery(attempter, requests, lastResort, _journal),
        };
    }

    public EndpointStatus Status
    {
        get
        {
            var isLive = _config.Subscribe.Count == 0 || _subscription?.IsLive == true;
            return _state.Describe(_config, _type, _current, _gate.Reason, isLive) with { Configured = Configured, Pool = _sender.Pool, Stuck = _sender.Stuck };
        }
    }

    private EndpointTuning Configured { get; }

    private bool IsOrdered => _config.Delivery == DeliveryMode.Ordered;

    public async Task StartAsync(CancellationToken cancellationToken)
    {
        if (_config.Subscribe.Count == 0) return;
        var subscription = new Subscription(
            _config.Name, _config.Subscribe, Configured.ProcessingThreads!.Value, Configured.Prefetch!.Value, IsOrdered, _config.Queue, IsOrdered ? [] : _config.Retry.Delays);
        _subscription = await _services.Transport.SubscribeAsync(subscription, HandleAsync, cancellationToken);
    }

    /// <summary>Lets deliveries under way finish; those that wait for something go back to their queue. A cancelled token aborts them.</summary>
    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await _stopping.CancelAsync();
        await using var abort = cancellationToken.Register(static state => ((CancellationTokenSource)state!).Cancel(), _aborting);
        if (_subscription is not null) await _subscription.DisposeAsync();
        _subscription = null;
    }

    /// <summary>An operator's word for the message that the endpoint stands at.</summary>
    /// <returns>Whether it stands at this one here.</returns>
    public bool TryMoveOn(Guid messageId, bool discard) => _mode is OrderedDelivery ordered && ordered.TryMoveOn(messageId, discard);

    public ValueTask<EsbMessage?> CallAsync(EsbMessage message, CancellationToken cancellationToken) => _sender.SendAsync(message, cancellationToken);

    public async ValueTask DisposeAsync()
    {
        await _sender.DisposeAsync();
        _stopping.Dispose();
        _aborting.Dispose();
    }

    private async ValueTask<Settlement> HandleAsync(TopicDelivery delivery, CancellationToken cancellationToken)
    {
        if (_stopping.IsCancellationRequested) return Settlement.Return;
        if (!_config.Answers) delivery = delivery with { Reply = null, ExpiresAt = null }; // somebody else answers
        using var activity = DeliveryTelemetry.Start(delivery, _services.Transport.System, _config.Name);
        using var held = new CancellationTokenSource(IsOrdered ? LongestOrderedHold : LongestHold, _services.Time);
        using var aborting = CancellationTokenSource.CreateLinkedTokenSource(_aborting.Token, cancellationToken, IsOrdered ? delivery.Source.Lost : default);
        using var waiting = CancellationTokenSource.CreateLinkedTokenSource([_stopping.Token, aborting.Token, held.Token, delivery.Source.Lost]);
        var tokens = new DeliveryTokens(waiting.Token, aborting.Token);
        var attempts = new DeliveryAttempts(delivery.Message, delivery.Failures, _services.Time);
        _state.Begin();
        try
        {
            return delivery.Kind == DeliveryKind.Release ? await _mode.ReleaseAsync(delivery, tokens) : await DeliverAsync(delivery, attempts, tokens);
        }
        catch (OperationCanceledException) when (waiting.IsCancellationRequested)
        {
            return Settlement.Return;
        }
        catch (EsbException ex)
        {
            // Not the outside failed but we: nothing may be acknowledged that is not recorded.
            LogNotRecorded(delivery.Message.Id, _config.Name, ex);
            return await ReturnSlowlyAsync(tokens.Waiting);
        }
        finally
        {
            _state.End();
            activity?.SetStatus(attempts.Last is null ? ActivityStatusCode.Unset : ActivityStatusCode.Error, attempts.Last?.Code);
            DeliveryTelemetry.Record(_services.Transport.System, _config.Name, attempts.Elapsed, attempts.Last?.Code);
        }
    }

    private async Task<Settlement> DeliverAsync(TopicDelivery delivery, DeliveryAttempts attempts, DeliveryTokens tokens)
    {
        // What an operator sends again has passed the filter, or was sent here on purpose.
        if (delivery.Kind == DeliveryKind.Replay || _filter?.Holds(new MessageContext(delivery.Message, _config.Name)) != false)
            return await _mode.DeliverAsync(delivery, attempts, tokens);
        await _journal.RecordAsync(attempts, AuditKind.Filtered, null, tokens);
        return Settlement.Done;
    }

    // So that a message which cannot be worked on now does not turn in a circle with its queue.
    private async Task<Settlement> ReturnSlowlyAsync(CancellationToken waiting)
    {
        try
        {
            await Task.Delay(Patience.Pace, _services.Time, waiting);
        }
        catch (OperationCanceledException)
        {
            // It goes back sooner.
        }

        return Settlement.Return;
    }

    [LoggerMessage(EventId = 2406, Level = LogLevel.Error, Message = "Message {MessageId} of {Endpoint} goes back to its queue: what became of it could not be recorded")]
    private partial void LogNotRecorded(Guid messageId, string endpoint, Exception exception);
}
