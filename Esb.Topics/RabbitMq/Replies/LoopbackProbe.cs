using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Connections;
using Esb.Topics.RabbitMq.Publishing;
using Esb.Topics.RabbitMq.Wire;
using Microsoft.Extensions.Logging;

namespace Esb.Topics.RabbitMq.Replies;

/// <summary>Sends a message to this process's own reply queue every few seconds: only its return proves that both connections work. A
/// second message goes to a queue that is stored on disk, as messages are.</summary>
/// <remarks>
/// A connection whose peer is gone looks open until its heartbeat fails, up to 30 s later. A broker may respond and store nothing: after
/// its disk was full, its quorum queues are gone until it is restarted; the same holds in a cluster without a majority.
/// </remarks>
internal sealed partial class LoopbackProbe : IAsyncDisposable
{
    private const int MaxMisses = 2;

    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan Timeout = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan AtOnce = Timeout / 2; // clocks and timers differ slightly: a full time-out must not look shorter

    private readonly bool _hasOtherNodes;
    private readonly BrokerConnection _publishing;
    private readonly BrokerConnection _consuming;
    private readonly ReplyQueue _replies;
    private readonly ConfirmedPublisher _publisher;
    private readonly string _probes;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly CancellationTokenSource _stopping = new();
    private readonly Task _running;
    private volatile string? _obstacle;

    public LoopbackProbe(
        bool hasOtherNodes,
        BrokerConnection publishing,
        BrokerConnection consuming,
        ReplyQueue replies,
        ConfirmedPublisher publisher,
        RabbitMqNames names,
        TimeProvider time,
        ILogger logger
    )
    {
        _hasOtherNodes = hasOtherNodes;
        (_publishing, _consuming, _replies, _publisher, _probes, _time, _logger) = (
            publishing,
            consuming,
            replies,
            publisher,
            names.Probes,
            time,
            logger
        );
        _running = RunAsync(_stopping.Token);
    }

    /// <summary>The reason why the last message did not return, or was not stored; null if both succeeded.</summary>
    public string? Obstacle => _obstacle;

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        await _running;
    }

    private async Task RunAsync(CancellationToken stopping)
    {
        var (misses, unkept, failedAtOnce) = (0, 0, false);
        try
        {
            while (true)
            {
                await Task.Delay(Interval, _time, stopping);
                var started = _time.GetTimestamp();
                var missing = await ProbeAsync(() => _replies.ProbeAsync(stopping));
                var obstacle = missing ?? await ProbeAsync(ProbeKeepingAsync);
                failedAtOnce = obstacle is not null && _obstacle is null && !failedAtOnce && _time.GetElapsedTime(started) < AtOnce;
                if (failedAtOnce)
                    continue; // another message may have cost its channel: a repeated failure is real
                if (obstacle is not null && _obstacle is null)
                    LogMissed(obstacle);
                _obstacle = obstacle;
                misses = missing is null || IsExplained ? 0 : misses + 1;
                if (misses >= MaxMisses)
                    _consuming.Link?.Abandon(missing!);
                unkept = obstacle is null || missing is not null || IsExplained ? 0 : unkept + 1;
                if (unkept >= MaxMisses && _hasOtherNodes)
                    _publishing.Link?.Abandon(obstacle!); // this node may be on the side without a majority
            }
        }
        catch (OperationCanceledException) when (stopping.IsCancellationRequested)
        {
            // Disposed.
        }
    }

    // A lost or blocked connection reports its own state; a new one proves nothing by its existence.
    private async Task<string?> ProbeAsync(Func<Task<string?>> probe)
    {
        if (IsExplained)
            return _obstacle;
        string? obstacle;
        try
        {
            obstacle = await probe();
        }
        catch (Exception ex) when (!_stopping.IsCancellationRequested)
        {
            obstacle = BrokerFault.Describe(ex); // a connection that is being lost fails in many ways
        }

        return IsExplained ? _obstacle : obstacle;
    }

    // A deleted queue says nothing about the others, and is declared again in a moment.
    private async Task<string?> ProbeKeepingAsync()
    {
        var result = await _publisher.SendAsync(
            _probes,
            WireWriter.Probe(Guid.NewGuid().ToString(), Timeout),
            ReadOnlyMemory<byte>.Empty,
            Timeout
        );
        return result.Outcome == PublishOutcome.Confirmed || result == ConfirmedChannel.NoQueue
            ? null
            : $"the broker keeps no message: {result.Reason}";
    }

    private bool IsExplained => _publishing.Obstacle is not null || _consuming.Current is null;

    [LoggerMessage(EventId = 1553, Level = LogLevel.Warning, Message = "The broker does not answer: {Reason}")]
    private partial void LogMissed(string reason);
}
