using System.Diagnostics;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Topics;
using Microsoft.Extensions.Logging;

namespace Esb.Topics.Memory;

/// <summary>Topics within this process: the embedded default, which needs no server. What it keeps ends with the process.</summary>
internal sealed class MemoryTransport(int maxInFlight, TimeProvider time, ILogger<MemoryTransport> logger) : ITopicTransport, IEndpointQueues
{
    private static readonly TimeSpan DrainInterval = TimeSpan.FromMilliseconds(20);

    private readonly Lock _gate = new();
    private readonly MemoryDeadLetters _deadLetters = new(time, logger);
    private readonly UnroutableMessages _unroutable = new(time, logger);
    private MemoryEndpoint[] _endpoints = []; // replaced as a whole
    private int _inFlight;

    public string System => "memory";

    public bool IsDurable => false;

    public TransportStatus Status { get; } = new(IsReady: true);

    public Task StartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public ValueTask<PublishResult> PublishAsync(EsbMessage message, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(Publish(message));
    }

    public async Task<EsbMessage> RequestAsync(EsbMessage request, TimeSpan timeout, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        var waiting = new TaskCompletionSource<EsbMessage>(TaskCreationOptions.RunContinuationsAsynchronously);
        var result = Publish(request, ReplyTo(waiting), timeout);
        if (result.Outcome != PublishOutcome.Confirmed) throw TopicFaults.Unavailable(request.Subject, result);
        try
        {
            var reply = await waiting.Task.WaitAsync(timeout, time, cancellationToken);
            return reply with { CorrelationId = request.CorrelationId };
        }
        catch (TimeoutException)
        {
            throw TopicFaults.RequestTimeout(request.Subject, timeout);
        }
    }

    public Task<ITopicSubscription> SubscribeAsync(Subscription subscription, DeliveryHandler handler, CancellationToken cancellationToken)
    {
        MemoryEndpoint endpoint;
        lock (_gate)
        {
            var known = Find(subscription.Endpoint);
            endpoint = known ?? new MemoryEndpoint(subscription.Endpoint, subscription.Lanes);
            endpoint.Patterns = subscription.Patterns;
            if (known is null) _endpoints = [.. _endpoints, endpoint];
        }

        return Task.FromResult<ITopicSubscription>(
            new MemorySubscription(subscription, tuned => new MemoryWorkers(tuned, endpoint, handler, _deadLetters, time, logger)));
    }

    public ValueTask<PublishResult> SendAsync(string endpoint, EsbMessage message, DeliveryKind kind, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(Find(endpoint) is { } known ? Add(message, [known], kind, reply: null, timeout: null) : PublishResult.Refused("no such queue"));
    }

    public Task<ITopicReader> ReadDeadLettersAsync(DeadLetterHandler handler, CancellationToken cancellationToken) => Task.FromResult(_deadLetters.Read(handler));

    public async Task DrainAsync(CancellationToken cancellationToken)
    {
        while (Volatile.Read(ref _inFlight) > 0) await Task.Delay(DrainInterval, time, cancellationToken);
    }

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;

    private PublishResult Publish(EsbMessage message, ReplySender? reply = null, TimeSpan? timeout = null)
    {
        var endpoints = Array.FindAll(_endpoints, endpoint => endpoint.Wants(message.Subject));
        if (endpoints.Length > 0) return Add(message, endpoints, DeliveryKind.Published, reply, timeout);
        _unroutable.Count(message.Subject);
        return PublishResult.Confirmed;
    }

    private PublishResult Add(EsbMessage message, MemoryEndpoint[] endpoints, DeliveryKind kind, ReplySender? reply, TimeSpan? timeout)
    {
        if (Interlocked.Increment(ref _inFlight) > maxInFlight)
        {
            Interlocked.Decrement(ref _inFlight);
            return PublishResult.Refused("too many messages in flight");
        }

        var travelling = message with { Headers = Travelling(message.Headers) };
        var published = new MemoryMessage(travelling, Activity.Current?.Context ?? default, endpoints.Length, settled: () => Interlocked.Decrement(ref _inFlight))
        {
            Kind = kind,
            Reply = reply,
            Expires = timeout is { } left ? time.GetTimestamp() + (long)(left.TotalSeconds * time.TimestampFrequency) : long.MaxValue,
            ExpiresAt = time.GetUtcNow() + timeout,
        };
        var attempt = kind == DeliveryKind.Published ? 0 : message.Attempt;
        foreach (var endpoint in endpoints) endpoint.Add(new MemoryDelivery(published, attempt));
        return new PublishResult(PublishOutcome.Confirmed, null, published.Settled);
    }

    private MemoryEndpoint? Find(string endpoint) => Array.Find(_endpoints, candidate => candidate.Name == endpoint);

    private static ReplySender ReplyTo(TaskCompletionSource<EsbMessage> waiting) => (reply, _) =>
    {
        waiting.TrySetResult(reply);
        return ValueTask.CompletedTask;
    };

    // The same headers arrive as would over a broker.
    private static MessageHeaders Travelling(MessageHeaders headers)
    {
        foreach (var (name, _) in headers)
        {
            if (HeaderRules.IsReserved(name)) return MessageHeaders.From(headers.Where(header => !HeaderRules.IsReserved(header.Key)));
        }

        return headers;
    }
}
