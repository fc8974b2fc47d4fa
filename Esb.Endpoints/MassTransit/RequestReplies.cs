using System.Collections.Concurrent;
using Esb.Core.Brokers;
using Esb.Core.Errors;
using Esb.Endpoints.Brokers;

namespace Esb.Endpoints.MassTransit;

/// <summary>The answers that the requests of an outbound endpoint wait for: they arrive in a queue of this process. Thread-safe.</summary>
internal sealed class RequestReplies : IAsyncDisposable
{
    private const int Prefetch = 256;

    private readonly MassTransitOutboundConfig _config;
    private readonly string _name;
    private readonly IBrokerReader _reader;
    private readonly ConcurrentDictionary<Guid, TaskCompletionSource<Envelope>> _waiting = new();
    private readonly Lazy<Task> _opening;

    public RequestReplies(MassTransitOutboundConfig config, string name, IBrokers brokers)
    {
        (_config, _name) = (config, name);
        var layout = new BrokerLayout
        {
            Exchanges = [new BrokerExchange(name, "fanout") { IsMade = true, IsTemporary = true }],
            Queue = new BrokerQueue(name) { IsMade = true, IsTemporary = true },
            Bindings = [new BrokerBinding(name, name, "", IsToQueue: true)],
        };
        _reader = brokers.CreateReader(config, new BrokerReading($"{config.Name} replies", layout, Prefetch, Concurrency: 1, TakeAsync));
        _opening = new Lazy<Task>(() => _reader.StartAsync(CancellationToken.None));
    }

    /// <summary>Returns the address for answers, at a broker.</summary>
    public string Address(BrokerPlace place) => MassTransitNames.AddressOf(place, _name, isTemporary: true);

    /// <summary>Starts to read answers, if this has not happened yet.</summary>
    /// <exception cref="EndpointException">Answers cannot be received: a request would be in vain.</exception>
    public async Task OpenAsync(CancellationToken cancellationToken)
    {
        await _opening.Value.WaitAsync(cancellationToken);
        if (_reader.Reason is { } reason)
            throw BrokerFailures.Away(_config.Name, reason);
    }

    /// <summary>Awaits the answer to a request, until it is disposed.</summary>
    public ExpectedAnswer Expect(Guid requestId)
    {
        var answer = new TaskCompletionSource<Envelope>(TaskCreationOptions.RunContinuationsAsynchronously);
        _waiting[requestId] = answer;
        return new ExpectedAnswer(answer.Task, () => _waiting.TryRemove(requestId, out _));
    }

    public ValueTask DisposeAsync() => _reader.DisposeAsync();

    // An answer that nobody waits for any more, and what is no answer at all, is dropped.
    private ValueTask<DeliveryVerdict> TakeAsync(QueueDelivery delivery, CancellationToken cancellationToken)
    {
        try
        {
            var envelope =
                delivery.Message.ContentType == Envelope.RawContentType
                    ? MassTransitHeaders.ReadRaw(delivery.Message)
                    : EnvelopeReader.Read(delivery.Message.Body);
            if (Guid.TryParse(envelope.RequestId, out var requestId) && _waiting.TryRemove(requestId, out var answer))
                answer.TrySetResult(envelope);
        }
        catch (EsbException)
        {
            // Its request times out, which says so.
        }

        return ValueTask.FromResult(DeliveryVerdict.Done);
    }
}

/// <summary>An answer to come. Disposing it stops the wait.</summary>
internal sealed class ExpectedAnswer(Task<Envelope> answer, Action forget) : IDisposable
{
    public Task<Envelope> Answer => answer;

    public void Dispose() => forget();
}
