using System.Collections.Concurrent;
using System.Diagnostics;
using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Microsoft.Extensions.Logging;

namespace Esb.Topics.Memory;

/// <summary>Topics within this process: the embedded default, which needs no server. Its messages are lost when the process ends.</summary>
internal sealed class MemoryTransport : IBusTransport
{
    private static readonly TimeSpan DrainInterval = TimeSpan.FromMilliseconds(20);

    private readonly Lock _gate = new();
    private readonly ConcurrentDictionary<string, MemorySubscription> _retired = new();
    private readonly Live<LimitsConfig> _limits;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly MemoryDeadLetters _deadLetters;
    private readonly UnroutableMessages _counter;
    private readonly MemoryReplies _replies;
    private readonly DurableReplies _durable;
    private readonly MemoryUnroutable _unroutable;
    private MemoryEndpoint[] _endpoints = []; // replaced as a whole
    private int _inFlight;

    public MemoryTransport(Live<LimitsConfig> limits, TimeProvider time, ILogger<MemoryTransport> logger)
    {
        (_limits, _time, _logger) = (limits, time, logger);
        _deadLetters = new MemoryDeadLetters(time, logger);
        _replies = new MemoryReplies(time);
        _durable = new DurableReplies(time);
        _counter = new UnroutableMessages(time, logger);
        _unroutable = new MemoryUnroutable(message => TryPublish(message));
    }

    public string System => "memory";

    public IUnroutableMessages Unroutable => _unroutable;

    public bool IsDurable => false;

    public int Waiting => _endpoints.Sum(endpoint => endpoint.Waiting) + _deadLetters.Waiting;

    public TransportStatus Status { get; } = new(IsReady: true);

    public Task StartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public ValueTask<PublishResult> PublishAsync(EsbMessage message, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(Publish(message));
    }

    public Task<Task<EsbMessage>> SendRequestAsync(EsbMessage request, TimeSpan timeout, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        var waiting = _replies.Begin(request, timeout);
        var result = Publish(request, new Requester(waiting.Address, waiting.SendAsync, timeout));
        if (result.Outcome == PublishOutcome.Confirmed)
            return Task.FromResult(waiting.WaitAsync(cancellationToken));
        waiting.End();
        throw TopicFaults.Unavailable(request.Subject, result);
    }

    public ValueTask<PublishResult> PublishRequestAsync(EsbMessage request, TimeSpan timeout, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        ReplySender reply = (message, stopping) => _durable.ReplyAsync(request.Id, message, stopping);
        return ValueTask.FromResult(Publish(request, new Requester(DurableReplies.AddressOf(request.Id), reply, timeout)));
    }

    public Task<ITopicReader> ReceiveRepliesAsync(ReplyHandler handler, CancellationToken cancellationToken) =>
        Task.FromResult(_durable.Receive(handler));

    public Task<AwaitedReply> AwaitAsync(EsbMessage request, TimeSpan timeout, CancellationToken cancellationToken)
    {
        var waiting = _replies.Begin(request, timeout);
        return Task.FromResult(new AwaitedReply(waiting.Address, waiting.WaitAsync, waiting.End));
    }

    public ValueTask<bool> ReplyAsync(string address, EsbMessage reply, CancellationToken cancellationToken) =>
        DurableReplies.TryParse(address, out var request)
            ? _durable.ReplyAsync(request.Value, reply, cancellationToken)
            : ValueTask.FromResult(_replies.TryReply(address, reply));

    public Task DeclareAsync(Subscription subscription, CancellationToken cancellationToken)
    {
        Declare(subscription);
        return Task.CompletedTask;
    }

    public ValueTask<long?> CountWaitingAsync(Subscription subscription, CancellationToken cancellationToken) =>
        ValueTask.FromResult<long?>(Find(subscription.Endpoint)?.Waiting);

    public async Task<ITopicSubscription> SubscribeAsync(
        Subscription subscription,
        DeliveryHandler handler,
        CancellationToken cancellationToken
    )
    {
        if (_retired.TryRemove(subscription.Endpoint, out var collecting))
            await collecting.DisposeAsync();
        return Consume(subscription, Declare(subscription), handler);
    }

    /// <summary>Turns waiting messages into dead letters, as they are kept nowhere else. Messages that return later from an attempt or a
    /// delay become dead letters too.</summary>
    public async Task RetireAsync(Subscription subscription, CancellationToken cancellationToken)
    {
        var endpoint = Declare(subscription with { Patterns = [] });
        if (_retired.TryRemove(subscription.Endpoint, out var before))
            await before.DisposeAsync();
        _retired[subscription.Endpoint] = Consume(
            subscription,
            endpoint,
            (delivery, _) => ValueTask.FromResult<Settlement>(new Settlement.Divert(LetterOf(delivery, subscription.Endpoint)))
        );
    }

    public ValueTask<PublishResult> SendAsync(string endpoint, EsbMessage message, DeliveryKind kind, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(
            Find(endpoint) is { } known ? Add(message, [known], kind, requester: null) : PublishResult.Refused("no such queue")
        );
    }

    public Task<ITopicReader> ReadDeadLettersAsync(DeadLetterHandler handler, CancellationToken cancellationToken) =>
        Task.FromResult(_deadLetters.Read(handler));

    public async Task DrainAsync(CancellationToken cancellationToken)
    {
        while (Volatile.Read(ref _inFlight) > 0)
            await Task.Delay(DrainInterval, _time, cancellationToken);
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var collecting in _retired.Values)
            await collecting.DisposeAsync();
        _retired.Clear();
    }

    private MemoryEndpoint Declare(Subscription subscription)
    {
        lock (_gate)
        {
            var known = Find(subscription.Endpoint);
            var endpoint = known ?? new MemoryEndpoint(subscription.Endpoint, subscription.Lanes);
            endpoint.Patterns = subscription.Patterns;
            if (known is null)
                _endpoints = [.. _endpoints, endpoint];
            return endpoint;
        }
    }

    private MemorySubscription Consume(Subscription subscription, MemoryEndpoint endpoint, DeliveryHandler handler) =>
        new(subscription, tuned => new MemoryWorkers(tuned, endpoint, handler, _deadLetters, _time, _logger));

    private DeadLetter LetterOf(TopicDelivery delivery, string endpoint)
    {
        var now = _time.GetUtcNow();
        return new DeadLetter(
            delivery.Message,
            endpoint,
            "ESB-ENDPOINT-REMOVED",
            $"The endpoint '{endpoint}' is gone from the configuration.",
            null,
            delivery.Message.Attempt,
            now,
            now
        )
        {
            Failures = delivery.Failures,
        };
    }

    private PublishResult Publish(EsbMessage message, Requester? requester = null)
    {
        if (TryPublish(message, requester) is { } result)
            return result;
        _counter.Count(message.Subject);
        if (requester is null)
            _unroutable.Keep(message); // a request is useless later
        return PublishResult.Confirmed;
    }

    // Returns null if no endpoint subscribes to the subject.
    private PublishResult? TryPublish(EsbMessage message, Requester? requester = null)
    {
        var endpoints = Array.FindAll(_endpoints, endpoint => endpoint.Wants(message.Subject));
        return endpoints.Length == 0 ? null : Add(message, endpoints, DeliveryKind.Published, requester);
    }

    private PublishResult Add(EsbMessage message, MemoryEndpoint[] endpoints, DeliveryKind kind, Requester? requester)
    {
        // A message derived from another is part of it and never refused; otherwise the original messages could wait for one another.
        var origin = kind == DeliveryKind.Published && MemoryMessage.Worked.Value is { } worked && worked.TryJoin() ? worked : null;
        if (origin is null && Interlocked.Increment(ref _inFlight) > _limits.Current.InFlight)
        {
            Interlocked.Decrement(ref _inFlight);
            return PublishResult.Refused("too many messages in flight");
        }

        var travelling = message with { Headers = Travelling(message.Headers, isDirect: kind != DeliveryKind.Published) };
        var published = new MemoryMessage(
            travelling,
            Activity.Current?.Context ?? default,
            endpoints.Length,
            origin is null ? () => Interlocked.Decrement(ref _inFlight) : origin.SettleOne
        )
        {
            Kind = kind,
            Reply = requester?.Reply,
            ReplyAddress = requester?.Address,
            Expires = requester?.Timeout is { } left
                ? _time.GetTimestamp() + (long)(left.TotalSeconds * _time.TimestampFrequency)
                : long.MaxValue,
            ExpiresAt = _time.GetUtcNow() + requester?.Timeout,
        };
        var attempt = kind == DeliveryKind.Published ? 0 : message.Attempt;
        foreach (var endpoint in endpoints)
            endpoint.Add(new MemoryDelivery(published, attempt));
        return new PublishResult(PublishOutcome.Confirmed, null, published.Settled);
    }

    private MemoryEndpoint? Find(string endpoint) => Array.Find(_endpoints, candidate => candidate.Name == endpoint);

    // Removes the headers that would not arrive over a broker either.
    private static MessageHeaders Travelling(MessageHeaders headers, bool isDirect)
    {
        foreach (var (name, _) in headers)
        {
            if (!Travels(name, isDirect))
                return MessageHeaders.From(headers.Where(header => Travels(header.Key, isDirect)));
        }

        return headers;
    }

    private static bool Travels(string name, bool isDirect) =>
        name == EsbHeaders.Hops || !HeaderRules.IsReserved(name) || (isDirect && EsbHeaders.IsDirect(name));

    private sealed record Requester(string Address, ReplySender Reply, TimeSpan Timeout);
}
