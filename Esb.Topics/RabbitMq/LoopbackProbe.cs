using Microsoft.Extensions.Logging;

namespace Esb.Topics.RabbitMq;

/// <summary>Sends a message to this process's own reply queue every few seconds: only what comes back proves that both connections live.</summary>
/// <remarks>A connection whose other half is gone looks open until its heartbeat fails, up to 30 s later.</remarks>
internal sealed partial class LoopbackProbe : IAsyncDisposable
{
    private const int MaxMisses = 2;

    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(2);

    private readonly BrokerConnection _publishing;
    private readonly BrokerConnection _consuming;
    private readonly ReplyQueue _replies;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly CancellationTokenSource _stopping = new();
    private readonly Task _running;
    private volatile string? _obstacle;

    public LoopbackProbe(BrokerConnection publishing, BrokerConnection consuming, ReplyQueue replies, TimeProvider time, ILogger logger)
    {
        (_publishing, _consuming, _replies, _time, _logger) = (publishing, consuming, replies, time, logger);
        _running = RunAsync(_stopping.Token);
    }

    /// <summary>Why the last message did not come back; null when it did.</summary>
    public string? Obstacle => _obstacle;

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        await _running;
    }

    private async Task RunAsync(CancellationToken stopping)
    {
        var misses = 0;
        try
        {
            while (true)
            {
                await Task.Delay(Interval, _time, stopping);
                var obstacle = await ProbeAsync(stopping);
                if (obstacle is not null && _obstacle is null) LogMissed(obstacle);
                _obstacle = obstacle;
                misses = obstacle is null ? 0 : misses + 1;
                if (misses == MaxMisses) _consuming.Link?.Abandon(obstacle!); // the publishing one counts its misses itself
            }
        }
        catch (OperationCanceledException) when (stopping.IsCancellationRequested)
        {
            // Disposed.
        }
    }

    // A connection that is lost or blocked speaks for itself.
    private async Task<string?> ProbeAsync(CancellationToken stopping)
    {
        if (IsExplained) return null;
        var obstacle = await _replies.ProbeAsync(stopping);
        return IsExplained ? null : obstacle;
    }

    private bool IsExplained => _publishing.Obstacle is not null || _consuming.Current is null;

    [LoggerMessage(EventId = 1553, Level = LogLevel.Warning, Message = "The broker does not answer: {Reason}")]
    private partial void LogMissed(string reason);
}
