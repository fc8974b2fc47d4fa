using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Marks;
using Esb.Core.Topics;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Intake.Overload;

/// <summary>Admits no further messages while the host is at its limits, memory is short, or the topics accept no messages. Callers are
/// rejected before any of their data is read; messages that can stay in their source wait. Admitted messages finish. Thread-safe.</summary>
/// <remarks>Once closed it opens only at the low-water mark (hysteresis).</remarks>
public sealed partial class OverloadGate(
    Live<LimitsConfig> limits,
    MemoryMarks memory,
    ITopicTransport transport,
    TimeProvider time,
    ILogger<OverloadGate> logger,
    Lazy<IMarks>? marks = null
)
{
    private static readonly TimeSpan RetryAfter = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan LogInterval = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan LookInterval = TimeSpan.FromMilliseconds(250); // the interval at which memory is measured

    private int _inFlight;
    private volatile bool _isCrowded;
    private long _turnedAwayAt;
    private long _heldBackAt;

    /// <summary>The number of calls inside.</summary>
    public int InFlight => Volatile.Read(ref _inFlight);

    /// <summary>True if callers are turned away until fewer calls are under way.</summary>
    public bool IsCrowded => _isCrowded;

    /// <summary>Admits a call; <see cref="Leave"/> releases it.</summary>
    /// <param name="needsTopics">True if the call will publish.</param>
    /// <exception cref="EsbException"><c>ESB-OVERLOAD</c>: the host is at its limits, or memory is short. <c>ESB-TOPIC-UNAVAILABLE</c>: the
    /// message could not be published.</exception>
    public void Enter(bool needsTopics)
    {
        if (TryEnter(needsTopics, closes: true) is not { } obstacle)
            return;
        if (obstacle.IsOverload && IsToBeLogged(ref _turnedAwayAt))
            LogTurnedAway(obstacle.Reason);
        throw obstacle.IsOverload
            ? new EsbException("ESB-OVERLOAD", $"{obstacle.Reason}; try again later.", FaultKind.Unavailable) { RetryAfter = RetryAfter }
            : new EsbException("ESB-TOPIC-UNAVAILABLE", $"{obstacle.Reason}.", FaultKind.Unavailable) { RetryAfter = 2 * RetryAfter };
    }

    /// <summary>Admits a message once the limits allow; <see cref="Leave"/> releases it.</summary>
    /// <param name="needsTopics">True if the message will be published.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    public async ValueTask WaitAsync(bool needsTopics, CancellationToken cancellationToken)
    {
        while (TryEnter(needsTopics, closes: false) is { } obstacle)
        {
            if (IsToBeLogged(ref _heldBackAt))
                LogHeldBack(obstacle.Reason);
            await Task.Delay(LookInterval, time, cancellationToken);
        }
    }

    public void Leave()
    {
        if (Interlocked.Decrement(ref _inFlight) <= limits.Current.InFlightLow)
            _isCrowded = false;
    }

    // The reason for refusing entry; null if entry was granted. Waiting messages do not close the gate to callers; otherwise a full folder
    // would keep it closed.
    private Obstacle? TryEnter(bool needsTopics, bool closes)
    {
        if (memory.AreTight)
            return new($"Memory is short: more than {limits.Current.MemoryHigh}% is in use", IsOverload: true);
        if (marks?.Value.IntakeObstacle is { } mark)
            return new($"The host is at a high mark: {mark}", IsOverload: true);
        if (needsTopics && transport.Status is { IsReady: false, Reason: var reason })
            return new($"The topics take no message right now: {reason ?? "not ready"}", IsOverload: false);

        var inFlight = Interlocked.Increment(ref _inFlight);
        if (closes && inFlight > limits.Current.InFlightHigh)
            _isCrowded = true;
        if (inFlight <= limits.Current.InFlightHigh && !_isCrowded)
            return null;
        Leave();
        return new($"More than {limits.Current.InFlightHigh} calls are worked on", IsOverload: true);
    }

    private bool IsToBeLogged(ref long loggedAt)
    {
        var now = time.GetTimestamp();
        var last = Interlocked.Read(ref loggedAt);
        return (last == 0 || time.GetElapsedTime(last, now) >= LogInterval) && Interlocked.CompareExchange(ref loggedAt, now, last) == last;
    }

    [LoggerMessage(EventId = 2520, Level = LogLevel.Warning, Message = "{Reason}; callers get 503 with Retry-After")]
    private partial void LogTurnedAway(string reason);

    [LoggerMessage(EventId = 2521, Level = LogLevel.Warning, Message = "{Reason}; messages that can wait are left where they are")]
    private partial void LogHeldBack(string reason);

    private readonly record struct Obstacle(string Reason, bool IsOverload);
}
