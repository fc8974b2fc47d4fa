using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Topics;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Intake.Overload;

/// <summary>Turns callers away, before anything of what they send is read, while the host has as much work as it can do, memory is short, or the topics take no messages. What is inside finishes. Thread-safe.</summary>
/// <remarks>Once closed it opens at the lower mark only, so that it does not flutter.</remarks>
internal sealed partial class OverloadGate(LimitsConfig limits, MemoryMarks memory, ITopicTransport transport, TimeProvider time, ILogger<OverloadGate> logger)
{
    private static readonly TimeSpan RetryAfter = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan LogInterval = TimeSpan.FromSeconds(10);

    private int _inFlight;
    private volatile bool _isCrowded;
    private long _loggedAt;

    /// <summary>Calls inside.</summary>
    public int InFlight => Volatile.Read(ref _inFlight);

    /// <summary>Lets a call in; <see cref="Leave"/> lets it out.</summary>
    /// <param name="needsTopics">Whether it will publish.</param>
    /// <exception cref="EsbException"><c>ESB-OVERLOAD</c>: there is too much to do, or too little memory. <c>ESB-TOPIC-UNAVAILABLE</c>: it could not be published.</exception>
    public void Enter(bool needsTopics)
    {
        if (memory.AreTight) throw Overload($"Memory is short: more than {limits.MemoryHigh}% is in use");
        if (needsTopics && transport.Status is { IsReady: false, Reason: var reason })
            throw new EsbException("ESB-TOPIC-UNAVAILABLE", $"The topics take no message right now: {reason ?? "not ready"}.", FaultKind.Unavailable) { RetryAfter = 2 * RetryAfter };

        var inFlight = Interlocked.Increment(ref _inFlight);
        if (inFlight > limits.InFlightHigh) _isCrowded = true;
        if (!_isCrowded) return;
        Leave();
        throw Overload($"More than {limits.InFlightHigh} calls are worked on");
    }

    public void Leave()
    {
        if (Interlocked.Decrement(ref _inFlight) <= limits.InFlightLow) _isCrowded = false;
    }

    private EsbException Overload(string reason)
    {
        var now = time.GetTimestamp();
        var loggedAt = Interlocked.Read(ref _loggedAt);
        if ((loggedAt == 0 || time.GetElapsedTime(loggedAt, now) >= LogInterval) && Interlocked.CompareExchange(ref _loggedAt, now, loggedAt) == loggedAt) LogOverload(reason);
        return new EsbException("ESB-OVERLOAD", $"{reason}; try again later.", FaultKind.Unavailable) { RetryAfter = RetryAfter };
    }

    [LoggerMessage(EventId = 2520, Level = LogLevel.Warning, Message = "{Reason}; callers are told to come back later")]
    private partial void LogOverload(string reason);
}
