using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Connections;
using Esb.Topics.RabbitMq.Publishing;
using Esb.Topics.RabbitMq.Wire;
using Microsoft.Extensions.Logging;

namespace Esb.Topics.RabbitMq.Replies;

/// <summary>Sends a message to this process's own reply queue every few seconds: only what comes back proves that both connections live. Another one goes to a queue that is kept on disk, as messages are.</summary>
/// <remarks>
/// A connection whose other half is gone looks open until its heartbeat fails, up to 30 s later.
/// A broker may answer and keep nothing: its quorum queues are gone for good after its disk was full, until it is started again, and without a majority in a cluster.
/// </remarks>
internal sealed partial class LoopbackProbe : IAsyncDisposable
{
    private const int MaxMisses = 2;

    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan Timeout = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan AtOnce = Timeout / 2; // clocks and timers differ by a little: what took all of its time must not look shorter

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
        bool hasOtherNodes, BrokerConnection publishing, BrokerConnection consuming, ReplyQueue replies, ConfirmedPublisher publisher, RabbitMqNames names, TimeProvider time, ILogger logger)
    {
        _hasOtherNodes = hasOtherNodes;
        (_publishing, _consuming, _replies, _publisher, _probes, _time, _logger) = (publishing, consuming, replies, publisher, names.Probes, time, logger);
        _running = RunAsync(_stopping.Token);
    }

    /// <summary>Why the last message did not come back, or was not kept; null when all is well.</summary>
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
                if (failedAtOnce) continue; // another message may have cost its channel: what fails again is no accident
                if (obstacle is not null && _obstacle is null) LogMissed(obstacle);
                _obstacle = obstacle;
                misses = missing is null || IsExplained ? 0 : misses + 1;
                if (misses >= MaxMisses) _consuming.Link?.Abandon(missing!);
                unkept = obstacle is null || missing is not null || IsExplained ? 0 : unkept + 1;
                if (unkept >= MaxMisses && _hasOtherNodes) _publishing.Link?.Abandon(obstacle!); // this node may be on the side without a majority
            }
        }
        catch (OperationCanceledException) when (stopping.IsCancellationRequested)
        {
            // Disposed.
        }
    }

    // A connection that is lost or blocked speaks for itself; a new one proves nothing by being there.
    private async Task<string?> ProbeAsync(Func<Task<string?>> probe)
    {
        if (IsExplained) return _obstacle;
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

    // A queue that somebody deleted says nothing about the others, and is declared again in a moment.
    private async Task<string?> ProbeKeepingAsync()
    {
        var result = await _publisher.SendAsync(_probes, WireWriter.Probe(Guid.NewGuid().ToString(), Timeout), ReadOnlyMemory<byte>.Empty, Timeout);
        return result.Outcome == PublishOutcome.Confirmed || result == ConfirmedChannel.NoQueue ? null : $"the broker keeps no message: {result.Reason}";
    }

    private bool IsExplained => _publishing.Obstacle is not null || _consuming.Current is null;

    [LoggerMessage(EventId = 1553, Level = LogLevel.Warning, Message = "The broker does not answer: {Reason}")]
    private partial void LogMissed(string reason);
}
