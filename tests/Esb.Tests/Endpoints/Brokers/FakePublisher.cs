using System.Collections.Concurrent;
using Esb.Core.Brokers;

namespace Esb.Tests.Endpoints.Brokers;

/// <summary>Keeps what is published; what the broker answers, and which exchanges it has, is up to the test. Thread-safe.</summary>
internal sealed class FakePublisher : IBrokerPublisher
{
    private readonly ConcurrentQueue<BrokerMessage> _published = new();

    public BrokerPlace Place { get; init; } = new("broker", 5672, "/", IsTls: false);

    /// <summary>The exchanges that exist; null while the broker is unreachable.</summary>
    public IReadOnlySet<string>? Exchanges { get; set; } = new HashSet<string>();

    public Func<BrokerMessage, BrokerResult> Answer { get; set; } = _ => BrokerResult.Confirmed;

    public IReadOnlyList<BrokerMessage> Published => [.. _published];

    public ValueTask<BrokerResult> PublishAsync(BrokerMessage message)
    {
        var result = Answer(message);
        if (result == BrokerResult.Confirmed)
            _published.Enqueue(message);
        return ValueTask.FromResult(result);
    }

    public Task<bool?> HasExchangeAsync(string exchange, CancellationToken cancellationToken) =>
        Task.FromResult(Exchanges?.Contains(exchange));

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
