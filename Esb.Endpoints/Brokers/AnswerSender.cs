using Esb.Core.Brokers;
using Esb.Core.Topics;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Brokers;

/// <summary>Sends answers to requests that came from a broker. Thread-safe.</summary>
internal sealed partial class AnswerSender(string endpoint, IBrokerPublisher publisher, TimeProvider time, ILogger<AnswerSender> logger)
    : IAsyncDisposable
{
    private const int MostAttempts = 3;
    private const int MostKnown = 1_000;

    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan KnownFor = TimeSpan.FromSeconds(30);

    private readonly Dictionary<string, DateTimeOffset> _known = [];
    private readonly Lock _gate = new();

    public BrokerPlace Place => publisher.Place;

    /// <summary>Looks whether an exchange exists; null if the broker cannot be asked. An exchange that was there is believed for 30
    /// s.</summary>
    public async ValueTask<bool?> KnowsAsync(string exchange, CancellationToken cancellationToken)
    {
        var now = time.GetUtcNow();
        lock (_gate)
        {
            if (_known.TryGetValue(exchange, out var until) && now < until)
                return true;
        }

        var exists = await publisher.HasExchangeAsync(exchange, cancellationToken);
        if (exists != true)
            return exists;
        lock (_gate)
        {
            if (_known.Count >= MostKnown)
                _known.Clear(); // senders may name any number of them
            _known[exchange] = now + KnownFor;
        }

        return true;
    }

    /// <summary>Sends an answer. One that cannot be sent is given up: its sender has stopped waiting, or asks again.</summary>
    public async Task SendAsync(BrokerMessage answer, Guid messageId, CancellationToken cancellationToken)
    {
        for (var attempt = 1; ; attempt++)
        {
            var result = await publisher.PublishAsync(answer);
            if (result.Outcome == PublishOutcome.Confirmed)
                return;
            if (result == BrokerResult.Unroutable || attempt == MostAttempts || !await IsThereAsync(answer.Exchange, cancellationToken))
            {
                LogAbandoned(messageId, endpoint, result.Reason ?? "");
                return;
            }

            await Task.Delay(Pause, time, cancellationToken);
        }
    }

    public ValueTask DisposeAsync() => publisher.DisposeAsync();

    // A requester that is gone took its exchange with it.
    private async Task<bool> IsThereAsync(string exchange, CancellationToken cancellationToken)
    {
        lock (_gate)
            _known.Remove(exchange);
        return exchange.Length == 0 || await KnowsAsync(exchange, cancellationToken) != false;
    }

    [LoggerMessage(
        EventId = 2300,
        Level = LogLevel.Warning,
        Message = "The answer to message {MessageId} of {Endpoint} was not taken: {Reason}"
    )]
    private partial void LogAbandoned(Guid messageId, string endpoint, string reason);
}
